"""Delivering a notice: on the board at once, then by each medium its owner has an address for.

Owns which media are tried, and what is written down of each try. A medium that took the notice is not tried
again; one that did not is, by the job that delivers. Does not own the protocols (providers).
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from steward.contract.errors import StewardError, UnavailableError
from steward.tasks.notices import AddressStore, Delivery, Medium, Notice, NoticeSender
from steward.work.board import NoticeBoard

logger = logging.getLogger(__name__)


class Postman:
    def __init__(
        self,
        board: NoticeBoard,
        *,
        senders: Mapping[Medium, NoticeSender],
        addresses: AddressStore,
        of_owner: Mapping[Medium, str],
        owner: str,
        now: Callable[[], datetime],
    ) -> None:
        """`of_owner`: the addresses in the settings, those of the home's `owner` and nobody else's."""
        self._board = board
        self._senders = senders
        self._addresses = addresses
        self._of_owner = of_owner
        self._owner = owner
        self._now = now

    def in_settings(self, user: str) -> Sequence[Medium]:
        """The media that the settings give this user."""
        return tuple(self._of_owner) if user == self._owner else ()

    async def deliver(self, notice: Notice) -> dict[str, str]:
        """By every medium that has not taken it yet; raises when one did not."""
        self._board.ring()
        known = {medium: self._of_owner[medium] for medium in self.in_settings(notice.user_id)}
        known |= await self._addresses.of(notice.user_id)
        open_ways = {
            medium: address
            for medium, address in known.items()
            if not (notice.deliveries.get(medium) and notice.deliveries[medium].sent)
        }
        failures = await asyncio.gather(*(self._try(notice, *way) for way in open_ways.items()))
        failed = [error for error in failures if error is not None]
        if failed:
            words = " ".join(error.message for error in failed)
            raise UnavailableError(words, retryable=any(error.retryable for error in failed))
        return {medium.value: "sent" for medium in known}

    async def _try(self, notice: Notice, medium: Medium, address: str) -> StewardError | None:
        before = notice.deliveries.get(medium)
        tries = 1 + (before.tries if before else 0)
        problem: StewardError | None = None
        try:
            await self._senders[medium].send(notice, address)
        except StewardError as error:
            problem = error
            logger.warning(
                "notice_not_delivered",
                extra={"notice": notice.id, "medium": medium.value, "problem": error.message},
            )
        said = None if problem is None else problem.message
        done = Delivery(sent=problem is None, tries=tries, at=self._now(), problem=said)
        await self._board.store.note(notice.id, medium, done)
        return problem
