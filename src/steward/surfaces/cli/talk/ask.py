"""`steward ask` and `steward chat`: talking with an agent."""

import asyncio
import importlib
import sys
import threading
from contextlib import aclosing, suppress
from typing import Annotated, Any
from urllib.parse import urlencode

import typer

from steward.contract.errors import StewardError
from steward.surfaces.cli.client import Api, connect
from steward.surfaces.cli.commands.jobs import show_queued
from steward.surfaces.cli.commands.schedules import see, worded
from steward.surfaces.cli.output import (
    Exit,
    JsonFlag,
    at_terminal,
    run,
    say,
    show_error,
    show_json,
    visible,
)
from steward.surfaces.cli.talk.talking import (
    exit_of,
    interruptible,
    show_live,
    show_quietly,
    show_sources,
    show_steps,
    take_turn,
)

AgentOption = Annotated[str | None, typer.Option(help="assistant, tasks or researcher.")]
UserOption = Annotated[str | None, typer.Option(help="Talk as this user.")]
ConversationOption = Annotated[str | None, typer.Option(help="Go on with this conversation.")]
HELP = "/new starts over, /history shows what was said, /quit ends. Ctrl-C stops an answer."
PROMPT = "you> "
SECONDS_BETWEEN_TRIES = 5.0
LOOKS, SECONDS_BETWEEN_LOOKS = 100, 0.05  # until a turn that was stopped has ended


def ask(
    words: Annotated[list[str], typer.Argument(help="What to say.")],
    *,
    agent: AgentOption = None,
    user: UserOption = None,
    conversation: ConversationOption = None,
    background: Annotated[
        bool, typer.Option("--background", help="Do not wait: a worker takes the turn; prints its job.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Say something to an agent and print its answer.

    Ends with 3 when something waits for your yes (say it with --conversation), 4 when no tool can do it.

    \b
    Example: steward ask "Add buy milk tomorrow" --agent tasks
    """

    async def work() -> int:
        body: dict[str, Any] = {"agent": agent, "user": user, "conversation": conversation}
        show = show_quietly if as_json else show_steps
        async with connect() as api:
            if background:
                queued = await api.post("/v1/chat", {**body, "message": " ".join(words), "background": True})
                show_queued(queued, as_json=as_json)
                return Exit.DONE
            answer = await take_turn(api, {**body, "message": " ".join(words)}, show=show)
            while answer["status"] == "pending_approval" and not as_json and at_terminal():
                say(visible(answer["answer"]))
                reply = typer.prompt("yes or no")
                going_on = {**body, "conversation": answer["conversation"], "message": reply}
                answer = await take_turn(api, going_on, show=show)
        if as_json:
            show_json(answer)
        else:
            _print(answer)
        return exit_of(answer)

    run(work, as_json=as_json)


def _print(answer: dict[str, Any]) -> None:
    say(visible(answer["answer"]) if sys.stdout.isatty() else answer["answer"])
    show_sources(answer)
    if answer["status"] in ("pending_approval", "question"):
        reply = "yes" if answer["status"] == "pending_approval" else "..."
        say(f'  steward ask "{reply}" --conversation {answer["conversation"]}', error=True)


def chat(agent: AgentOption = None, user: UserOption = None, conversation: ConversationOption = None) -> None:
    """Talk with an agent. Approvals are asked for where they come up; Ctrl-C stops an answer.

    \b
    Example: steward chat --agent tasks
    """

    async def work() -> None:
        async with connect(works=True) as api:
            await _Talk(api, agent=agent, user=user, conversation=conversation).run()

    run(work)


def register(app: typer.Typer) -> None:
    app.command()(ask)
    app.command()(chat)


class _Talk:
    """A conversation at the terminal; elsewhere each line of standard input is a turn."""

    def __init__(self, api: Api, *, agent: str | None, user: str | None, conversation: str | None) -> None:
        self._api = api
        self._agent = agent
        self._user = user
        self._conversation = conversation

    async def run(self) -> None:
        listening = asyncio.create_task(self._listen(), name="notices")
        try:
            await self._converse()
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    async def _listen(self) -> None:
        """Notices as they come, first those that nobody has seen. Only where somebody is there."""
        if not at_terminal():
            return
        while True:
            with suppress(StewardError):
                async with aclosing(self._api.follow("/v1/notices/stream")) as events:
                    async for _, notice in events:
                        say(f"\n{worded(notice)}")
                        sys.stdout.write(PROMPT)
                        sys.stdout.flush()
                        await see(self._api, [notice])
            await asyncio.sleep(SECONDS_BETWEEN_TRIES)

    async def _converse(self) -> None:
        if at_terminal():
            with suppress(ImportError):  # arrow keys and earlier lines, where the platform has them
                importlib.import_module("readline")
            say(HELP)
        while True:
            with interruptible(lambda: say("\n(/quit or Ctrl-D ends)", error=True)):
                line = await _read_line(PROMPT if at_terminal() else "")
            if line is None or line.strip() == "/quit":
                return
            await self._hear(line.strip())

    async def _hear(self, line: str) -> None:
        match line:
            case "":
                return
            case "/new":
                self._conversation = None
                say("A new conversation.")
            case "/help":
                say(HELP)
            case "/history":
                await self._show_history()
            case _:
                await self._turn(line)

    async def _turn(self, message: str) -> None:
        body = {"message": message, "user": self._user, "conversation": self._conversation}
        if self._conversation is None:
            body["agent"] = self._agent
        turn = asyncio.ensure_future(take_turn(self._api, body, show=show_live))
        try:
            with interruptible(turn.cancel):
                answer = await turn
        except asyncio.CancelledError:
            ours = asyncio.current_task()
            if ours is not None and ours.cancelling():
                raise
            say("\nStopped. What was done until then stays done.", error=True)
            await self._find_again()
            await self._stop()
            return
        except StewardError as error:
            show_error(error, as_json=False)
            return
        self._conversation = answer["conversation"]
        say("")
        show_sources(answer)

    async def _find_again(self) -> None:
        """A first turn that was stopped never said which conversation it made."""
        if self._conversation is None:
            latest = (await self._api.get("/v1/conversations", limit=1, user=self._user))["items"]
            self._conversation = latest[0]["id"] if latest else None

    async def _stop(self) -> None:
        """A broken stream alone may be followed again, so that the turn would go on for a while."""
        if self._conversation is None:
            return
        place = f"/v1/conversations/{self._conversation}"
        with suppress(StewardError):
            whose = f"?{urlencode({'user': self._user})}" if self._user else ""
            await self._api.post(f"{place}/stop{whose}")
            for _ in range(LOOKS):
                if not (await self._api.get(place, user=self._user))["running"]:
                    return
                await asyncio.sleep(SECONDS_BETWEEN_LOOKS)

    async def _show_history(self) -> None:
        if self._conversation is None:
            say("Nothing was said yet.")
            return
        try:
            whole = await self._api.get(f"/v1/conversations/{self._conversation}", user=self._user)
        except StewardError as error:
            show_error(error, as_json=False)
            return
        for turn in whole["turns"]:
            say(visible(f"{PROMPT}{turn['said']}\n{turn['answer']['answer']}"))


async def _read_line(prompt: str) -> str | None:
    """A line, or None at the end. In a thread of its own: servers of this process go on meanwhile."""
    loop = asyncio.get_running_loop()
    line: asyncio.Future[str | None] = loop.create_future()

    def read() -> None:
        try:
            text: str | None = input(prompt)
        except EOFError:
            text = None
        except (OSError, UnicodeDecodeError, ValueError):
            text = None
        loop.call_soon_threadsafe(_settle, line, text)

    # Not the loop's own threads: the program must not wait for a line that nobody will type.
    threading.Thread(target=read, name="typing", daemon=True).start()
    return await line


def _settle(line: "asyncio.Future[str | None]", text: str | None) -> None:
    if not line.done():
        line.set_result(text)
