"""Keeps one session with one server, for as long as Steward wants it.

Owns the session's life: connect, notice a loss, try again with growing pauses, then poll. One task does all
of it, so that there is one reconnection at a time however many callers wait. Does not own what the session
is used for (mcp.py).
"""

import asyncio
import contextvars
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

from mcp.client.session import ElicitationFnT, IncomingMessage, ListRootsFnT, SamplingFnT
from mcp.shared.exceptions import MCPError
from mcp_types import (
    LoggingMessageNotification,
    PromptListChangedNotification,
    ResourceListChangedNotification,
    ResourceUpdatedNotification,
    ToolListChangedNotification,
)

from steward.contract.errors import ConfigError, StewardError, UnavailableError
from steward.providers.mcp.links import LinkOpener, ServerLink
from steward.providers.mcp.oauth import PERSON_SECONDS, SignInRequiredError
from steward.providers.mcp.session import McpSession, client_session, negotiate
from steward.providers.mcp.wire import ConnectionLostError

logger = logging.getLogger(__name__)

_LIST_CHANGES = (ToolListChangedNotification, PromptListChangedNotification, ResourceListChangedNotification)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Seconds; injectable, so that tests need not wait."""

    retries: int = 3
    backoff: float = 0.5  # before the first retry; doubles
    poll: float = 30.0  # between tries once the retries are used up
    ping_every: float = 4.0
    ping_timeout: float = 5.0  # with the interval, under the ten seconds in which a loss must be noticed
    busy_silence: float = 30.0  # a server at work may be silent this long
    stable_after: float = 30.0  # a session this old earns fresh retries
    stop: float = 4.5


class State(StrEnum):
    STOPPED = "stopped"
    CONNECTING = "connecting"
    READY = "ready"
    RETRYING = "retrying"
    SIGN_IN = "sign_in"  # a person must sign in first
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Callbacks:
    elicit: ElicitationFnT
    sample: SamplingFnT
    roots: ListRootsFnT
    on_session: Callable[[McpSession], Awaitable[None]]  # a session is there, or its lists changed
    on_state: Callable[[], None]
    on_resource: Callable[[str], None]  # a resource that was asked about changed


class Connection:
    def __init__(
        self,
        name: str,
        opener: LinkOpener,
        callbacks: Callbacks,
        *,
        timeout: float,
        timing: Timing,
        protocol: str = "auto",
    ) -> None:
        self.name = name
        self.state = State.STOPPED
        self.problem: str | None = None
        self.reconnects = 0
        self.stderr: tuple[str, ...] = ()
        self._opener = opener
        self._callbacks = callbacks
        self._timeout = timeout
        self._timing = timing
        self._protocol = protocol
        self._keeper: asyncio.Task[None] | None = None
        self._settled: asyncio.Future[McpSession | StewardError] | None = None
        self._session: McpSession | None = None
        self._was_ready = False
        self._wanted: tuple[str, float] | None = None
        self._link: ServerLink | None = None

    # --- what users of the connection see ---

    @property
    def session(self) -> McpSession | None:
        return self._session

    @property
    def available(self) -> bool:
        """False once the retries are used up; while a lost session is retried, callers wait for it."""
        return self.state is State.READY or (self.state is State.RETRYING and self._was_ready)

    def start(self) -> None:
        if self._keeper is None:
            self._settled = asyncio.get_running_loop().create_future()
            self._become(State.CONNECTING)
            # In a context of its own: whoever starts a server is not who its questions go to.
            keeper = asyncio.create_task(self._keep(), name=f"mcp:{self.name}", context=contextvars.Context())
            self._keeper = keeper

    async def ready(self) -> McpSession:
        """The session; waits for a reconnection under way, and says why when there is none to be had."""
        session = self._session
        if session is not None and not session.link.lost.is_set():
            return session
        if session is not None:
            self._lost(session)  # seen here before the keeper woke up
        if self._settled is None:
            raise UnavailableError(
                f"Server '{self.name}' is stopped.", fix=f"Run `steward agents start {self.name}`."
            )
        outcome = await asyncio.shield(self._settled)
        if isinstance(outcome, StewardError):
            raise outcome
        return outcome

    async def stop(self) -> None:
        """End the session and, with it, the server's process and all its children."""
        keeper, self._keeper = self._keeper, None
        self._session = None  # an end that was wanted is not a loss
        if keeper is not None:
            for _ in range(2):  # the second time interrupts a farewell that takes too long
                keeper.cancel()
                await asyncio.wait((keeper,), timeout=self._timing.stop / 2)
        self._settle(UnavailableError(f"Server '{self.name}' was stopped."))
        self._settled = None
        self._become(State.STOPPED)

    def facts(self) -> dict[str, Any]:
        session, link = self._session, self._link
        facts: dict[str, Any] = {"state": str(self.state), "reconnects": self.reconnects}
        if link is not None:
            facts |= {"transport": link.kind, **link.facts()}
        if session is not None:
            facts |= {"protocol": session.version, "server": session.server_info}
        if self._wanted is not None and (session is None or session.heard_at < self._wanted[1]):
            facts["sign_in"] = self._wanted[0]
        stderr = link.stderr() if link is not None else self.stderr
        if stderr:
            facts["stderr"] = list(stderr)
        return facts

    # --- the keeper ---

    async def _keep(self) -> None:
        failures = 0
        while True:
            connected_at: float | None = None
            hopeless = False
            try:
                async with AsyncExitStack() as stack:
                    session = await self._connect(stack)
                    connected_at = time.monotonic()
                    self._ready(session)
                    await self._watch(session)
                self.problem = self._reason(None)
            except asyncio.CancelledError:
                raise
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt | SystemExit):
                    raise
                cause = _cause(error)
                self.problem = self._reason(cause)
                hopeless = isinstance(cause, ConfigError | SignInRequiredError)
            finally:
                self._remember_last_words()
            if connected_at is not None and time.monotonic() - connected_at >= self._timing.stable_after:
                failures = 0
            failures += 1
            await self._pause(failures, hopeless=hopeless)

    async def _connect(self, stack: AsyncExitStack) -> McpSession:
        try:
            async with asyncio.timeout(self._timeout) as deadline:

                def sign_in_wanted(page: str) -> None:
                    with suppress(RuntimeError):  # connected long since: a later call asks for more
                        deadline.reschedule(
                            asyncio.get_running_loop().time() + PERSON_SECONDS + self._timeout
                        )
                    self._sign_in_wanted(page)

                link = await stack.enter_async_context(self._opener(sign_in_wanted))
                self._link = link
                sessions: list[McpSession] = []

                async def hear(message: IncomingMessage) -> None:
                    for session in sessions:
                        await self._hear(session, message)

                callbacks = self._callbacks
                client = await stack.enter_async_context(
                    client_session(
                        link,
                        elicit=callbacks.elicit,
                        sample=callbacks.sample,
                        roots=callbacks.roots,
                        hear=hear,
                    )
                )
                await self._negotiate(client)
                session = McpSession(link, client)
                sessions.append(session)
                await self._callbacks.on_session(session)
                return session
        except TimeoutError:
            raise UnavailableError(f"it did not answer within {self._timeout:g} s") from None

    async def _hear(self, session: McpSession, message: IncomingMessage) -> None:
        if isinstance(message, _LIST_CHANGES):
            session.changed.set()
        elif isinstance(message, LoggingMessageNotification):
            await session.pass_log(message.params)
        elif isinstance(message, ResourceUpdatedNotification):
            self._callbacks.on_resource(str(message.params.uri))

    async def _negotiate(self, client: Any) -> None:
        try:
            await negotiate(client, self._protocol, probe_seconds=self._timeout / 2)
        except ConnectionLostError:
            # Some older servers end when their first message is not the old handshake.
            self._protocol = "legacy" if self._protocol == "auto" else self._protocol
            raise

    async def _watch(self, session: McpSession) -> None:
        """Until the link is lost: look for signs of life, follow the server's list changes."""
        link = session.link
        following = asyncio.create_task(session.follow_changes())
        try:
            while not link.lost.is_set():
                await _first_of(
                    link.lost, session.changed, timeout=self._timing.ping_every if link.watched else None
                )
                if link.lost.is_set():
                    break
                if session.changed.is_set():
                    session.changed.clear()
                    await self._follow(session)
                elif time.monotonic() - session.heard_at >= self._timing.ping_every:
                    await self._look_for_life(session)
        finally:
            following.cancel()
            session.close()
            with suppress(asyncio.CancelledError, Exception):
                await following
            self._lost(session)

    async def _follow(self, session: McpSession) -> None:
        try:
            async with asyncio.timeout(self._timeout):
                await self._callbacks.on_session(session)
        except (MCPError, TimeoutError, StewardError) as error:
            logger.warning("mcp_list_unreadable", extra={"agent": self.name, "problem": str(error)})

    async def _look_for_life(self, session: McpSession) -> None:
        try:
            await session.ping(self._timing.ping_timeout)
        except ConnectionLostError as error:
            session.link.lose(error.message)
        except MCPError:
            silent = time.monotonic() - session.heard_at
            at_work = session.in_flight and silent < self._timing.busy_silence
            if silent >= self._timing.ping_timeout and not at_work:
                session.link.lose(f"it has not answered for {silent:.0f} s")

    # --- states ---

    def _ready(self, session: McpSession) -> None:
        if self.problem is not None:
            self.reconnects += 1
            logger.info("mcp_reconnected", extra={"agent": self.name, "reconnects": self.reconnects})
        self.problem = self._wanted = None
        self._was_ready = True
        self._session = session
        self._settle(session)
        self._become(State.READY)

    def _lost(self, session: McpSession) -> None:
        if self._session is not session:
            return
        self._session = None
        self.problem = self._reason(None)
        self._settled = asyncio.get_running_loop().create_future()
        logger.warning("mcp_server_lost", extra={"agent": self.name, "problem": self.problem})
        self._become(State.RETRYING)

    def _sign_in_wanted(self, page: str) -> None:
        self._wanted = (page, time.monotonic())
        if self._session is not None:
            return  # one call needs more rights; the session is fine
        self.problem = "it wants somebody to sign in"
        self._settle(
            UnavailableError(
                f"Server '{self.name}' wants you to sign in.",
                fix=f"`steward agents health {self.name}` shows the page to open.",
            )
        )
        self._become(State.SIGN_IN)

    async def _pause(self, failures: int, *, hopeless: bool) -> None:
        if failures <= self._timing.retries and not hopeless:
            self._become(State.RETRYING)
            await asyncio.sleep(self._timing.backoff * 2 ** (failures - 1))
            return
        self._was_ready = False
        tried = f" after {failures} tries" if failures > 1 else ""
        self._settle(
            UnavailableError(
                f"Server '{self.name}' is unavailable{tried}: {self.problem}.",
                fix=f"It is tried again every {self._timing.poll:g} s; "
                f"`steward agents health {self.name}` shows its last output.",
            )
        )
        self._become(State.UNAVAILABLE)
        await asyncio.sleep(self._timing.poll)

    def _settle(self, outcome: McpSession | StewardError) -> None:
        if self._settled is None or self._settled.done():
            self._settled = asyncio.get_running_loop().create_future()
        self._settled.set_result(outcome)

    def _become(self, state: State) -> None:
        if state is not self.state:
            self.state = state
            self._callbacks.on_state()

    def _reason(self, cause: BaseException | None) -> str:
        link = self._link
        words = "" if cause is None else _words(cause)
        if not words and link is not None:
            words = link.reason() or ""
        last = (
            next((line for line in reversed(link.stderr()) if line.strip()), "") if link is not None else ""
        )
        shown = (
            f"{words or 'it ended'}; its last words: {last.strip()[:200]}" if last else words or "it ended"
        )
        return shown.rstrip(".")

    def _remember_last_words(self) -> None:
        if self._link is not None:
            self.stderr = self._link.stderr()
            self._link = None


async def _first_of(*events: asyncio.Event, timeout: float | None) -> None:
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


def _cause(error: BaseException) -> BaseException:
    """The first real error inside the groups that task groups wrap around it."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error


def _words(cause: BaseException) -> str:
    if isinstance(cause, StewardError):
        return cause.explain()
    return str(cause) or type(cause).__name__
