"""A CrewAI flow whose tools are Steward's, with a person's yes in the middle (docs/orchestrators.md).

The flow ends where a call waits, and its store keeps the proposal: kill the process, approve, start it again
with the same name, and it goes on behind the decision.
"""

import os
import sys
from pathlib import Path

# Not this folder: the file is called like the package that it shows.
sys.path[0] = str(Path(__file__).with_name("common"))
os.environ.setdefault("CREWAI_DISABLE_TELEMETRY", "true")
os.environ.setdefault("OTEL_SDK_DISABLED", "true")

from crewai.flow.flow import Flow, listen, or_, router, start
from crewai.flow.persistence import SQLiteFlowPersistence, persist
from door import Answer, Done, Door, Tidied, Waits, doubles, main
from pydantic import BaseModel


class State(BaseModel):
    id: str = ""
    looked: bool = False
    doubles: list[dict[str, str]] = []
    proposal: str | None = None
    removed: list[str] = []
    kept: dict[str, str] = {}


def flow(door: Door, store: SQLiteFlowPersistence) -> Flow[State]:
    class TidyFlow(Flow[State]):
        @start()
        @persist(store)
        def look(self) -> None:
            if self.state.looked:  # it goes on
                return
            match door.call("list_tasks", {"completed": False}, step="look"):
                case Done(data=data):
                    self.state.doubles, self.state.looked = doubles(data["tasks"]), True
                case other:
                    raise RuntimeError(f"The list cannot be read: {other}")

        @router(or_(look, "asked", "settled"))
        def next_step(self) -> str:
            if self.state.proposal:
                return "pending"
            return "next" if self.state.doubles else "tidy"

        @router("next")
        @persist(store)
        def ask(self) -> str:
            """Its own step, so that the store has the proposal before anybody waits for it."""
            task = self.state.doubles[0]
            answer = door.call("delete_task", {"task_id": task["id"]}, step=f"remove-{task['id']}")
            if isinstance(answer, Waits):
                self.state.proposal = answer.proposal
                return "asked"
            return self.settle(answer)

        @router("pending")
        @persist(store)
        def decide(self) -> str:
            answer = door.decision(self.state.proposal or "")
            return "rest" if isinstance(answer, Waits) else self.settle(answer)

        @listen(or_("tidy", "rest"))
        def end(self) -> None:
            """Done for now; with a proposal in the state the same flow goes on later."""

        def settle(self, answer: Answer) -> str:
            task = self.state.doubles.pop(0)
            self.state.proposal = None
            if isinstance(answer, Done):
                self.state.removed.append(task["title"])
            else:
                self.state.kept[task["title"]] = str(getattr(answer, "why", answer))
            return "settled"

    return TidyFlow(persistence=store, suppress_flow_events=True)


def tidy(door: Door, thread: str, state: Path) -> Tidied:
    running = flow(door, SQLiteFlowPersistence(str(state / "crewai.sqlite")))
    running.kickoff(inputs={"id": thread})
    kept = running.state
    return Tidied(kept.removed, kept.kept, kept.proposal)


if __name__ == "__main__":
    main("crewai", tidy)
