"""An AutoGen swarm whose tools are Steward's, with a person's yes in the middle (docs/orchestrators.md).

Where a call waits, the agent hands over to the person, which ends the run; the team's state, with the
proposal, is saved. Kill the process, approve, start it again with the same name, and it goes on behind
the decision.
"""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# Not this folder: the file is called like the package that it shows.
sys.path[0] = str(Path(__file__).with_name("common"))

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.conditions import HandoffTermination, TextMentionTermination
from autogen_agentchat.messages import BaseChatMessage, HandoffMessage, TextMessage
from autogen_agentchat.teams import Swarm
from autogen_core import CancellationToken
from door import Answer, Done, Door, Tidied, Waits, doubles, main

TIDY = "The list is tidy."


class Tidier(BaseChatAgent):
    """Reads the list once, then settles one double after the other."""

    def __init__(self, door: Door) -> None:
        super().__init__("tidier", "Removes tasks that are on the list twice.")
        self.door = door
        self.doubles: list[dict[str, str]] | None = None
        self.so_far = Tidied()

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        return (HandoffMessage, TextMessage)

    async def on_messages(
        self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken
    ) -> Response:
        return Response(chat_message=await asyncio.to_thread(self.work))

    def work(self) -> BaseChatMessage:
        if self.doubles is None:
            match self.door.call("list_tasks", {"completed": False}, step="look"):
                case Done(data=data):
                    self.doubles = doubles(data["tasks"])
                case other:
                    raise RuntimeError(f"The list cannot be read: {other}")
        while self.doubles:
            answer = self.ask(self.doubles[0])
            if isinstance(answer, Waits):
                self.so_far.waits_for = answer.proposal
                words = f"Please decide: steward approve {answer.proposal}"
                return HandoffMessage(source=self.name, target="person", content=words)
            self.settle(self.doubles.pop(0), answer)
        return TextMessage(source=self.name, content=TIDY)

    def ask(self, task: dict[str, str]) -> Answer:
        if self.so_far.waits_for:
            return self.door.decision(self.so_far.waits_for)
        return self.door.call("delete_task", {"task_id": task["id"]}, step=f"remove-{task['id']}")

    def settle(self, task: dict[str, str], answer: Answer) -> None:
        self.so_far.waits_for = None
        if isinstance(answer, Done):
            self.so_far.removed.append(task["title"])
        else:
            self.so_far.kept[task["title"]] = str(getattr(answer, "why", answer))

    async def save_state(self) -> Mapping[str, Any]:
        return {"doubles": self.doubles, **self.so_far.as_json()}

    async def load_state(self, state: Mapping[str, Any]) -> None:
        self.doubles = state["doubles"]
        self.so_far = Tidied(state["removed"], state["kept"], state["proposal"])

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        self.doubles, self.so_far = None, Tidied()


async def go_on(door: Door, saved: Mapping[str, Any] | None) -> tuple[Tidied, Mapping[str, Any]]:
    tidier = Tidier(door)
    until = HandoffTermination("person") | TextMentionTermination(TIDY)
    team = Swarm([tidier], termination_condition=until)
    task: str | HandoffMessage = "Tidy the list."
    if saved:
        await team.load_state(saved)
        task = HandoffMessage(source="person", target="tidier", content="Look again.")
    await team.run(task=task)
    return tidier.so_far, await team.save_state()


def tidy(door: Door, thread: str, state: Path) -> Tidied:
    file = state / f"autogen-{thread}.json"
    saved = json.loads(file.read_text(encoding="utf-8")) if file.exists() else None
    tidied, kept = asyncio.run(go_on(door, saved))
    new = file.with_suffix(".new")
    new.write_text(json.dumps(kept), encoding="utf-8")
    new.rename(file)  # whole or not at all
    return tidied


if __name__ == "__main__":
    main("autogen", tidy)
