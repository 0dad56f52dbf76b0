"""What other instances change, taken into force here while a program serves; and what they count, counted.

Owns which room is told of which file. The exchange itself is sharing.py's.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager

from steward.bootstrap.platform import Platform
from steward.bootstrap.sharing.shared_files import SERVERS
from steward.bootstrap.sharing.shared_registry import PINS
from steward.contract.errors import StewardError

logger = logging.getLogger(__name__)


@asynccontextmanager
async def following(platform: Platform) -> AsyncGenerator[None]:
    """Policy and skills look at their files themselves; tools and servers are told."""
    renewals: set[asyncio.Task[None]] = set()

    async def apply(changed: Collection[str]) -> None:
        if any(path.startswith("tools/") for path in changed):
            platform.writer.refresh()
        if SERVERS in changed or PINS in changed:
            # Servers take their time to come up; the next change of the rules does not wait for them.
            renewal = asyncio.create_task(_renew_servers(platform, reload=SERVERS in changed))
            renewals.add(renewal)
            renewal.add_done_callback(renewals.discard)

    poll = not platform.database.can_listen
    try:
        async with platform.sharing.followed(platform.changes, apply, poll=poll):
            yield
    finally:
        for renewal in tuple(renewals):
            renewal.cancel()
        await asyncio.gather(*renewals, return_exceptions=True)


async def _renew_servers(platform: Platform, *, reload: bool) -> None:
    try:
        if reload:
            await platform.servers.reload()
        else:
            await platform.servers.rejudge()
    except StewardError as error:
        logger.warning("servers_not_renewed", extra={"problem": error.explain()})
