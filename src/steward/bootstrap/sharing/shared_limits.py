"""One limit a caller, on however many instances their requests arrive.

Each instance decides at once, by what it counted itself; every two seconds the instances tell each other, and
what the others let in is charged here. Owns the exchange; guard.py owns the limit.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

from steward.bootstrap.platform import Platform
from steward.contract.errors import StewardError
from steward.servers.gateway.guard import RateLimit
from steward.storage.registry import PostgresRequestCounts

logger = logging.getLogger(__name__)

SECONDS = 2.0
ROUNDS_BEFORE_FORGETTING = 900


class SharedLimits:
    def __init__(self, counts: PostgresRequestCounts, limits: Mapping[str, RateLimit]) -> None:
        """`limits` by what they are for: a caller has one of each."""
        self._counts = counts
        self._limits = limits
        self._charged: dict[tuple[str, int], int] = {}

    async def exchange(self) -> None:
        totals = {
            f"{name}:{caller}": total
            for name, limit in self._limits.items()
            for caller, total in limit.totals().items()
        }
        if not totals:
            self._charged.clear()
            return
        elsewhere = await self._counts.exchange(totals)
        for (caller, program), total in elsewhere.items():
            before = self._charged.get(
                (caller, program), total
            )  # what was before we met is not ours to charge
            if total > before:
                name, _, key = caller.partition(":")
                self._limits[name].charge(key, total - before)
        self._charged = dict(elsewhere)

    async def run(self) -> None:
        rounds = 0
        while True:
            await asyncio.sleep(SECONDS)
            rounds += 1
            try:
                await self.exchange()
                if rounds % ROUNDS_BEFORE_FORGETTING == 0:
                    await self._counts.forget()
            except StewardError as error:  # each instance holds its own limit meanwhile
                logger.warning("limits_not_shared", extra={"problem": error.explain()})


@asynccontextmanager
async def limits_shared(platform: Platform, limits: Mapping[str, RateLimit]) -> AsyncGenerator[None]:
    if platform.sharing.store is None or not platform.settings.rate_limit:
        yield
        return
    shared = SharedLimits(PostgresRequestCounts(platform.database), limits)
    telling = asyncio.create_task(shared.run(), name="sharing limits")
    try:
        yield
    finally:
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)
