"""A LangGraph graph whose tools are Steward's, with a person's yes in the middle (docs/orchestrators.md).

The graph pauses with `interrupt` where a call waits, and its checkpoint keeps the proposal: kill the process,
approve, start it again with the same name, and it goes on behind the decision.
"""

import sys
from operator import add
from pathlib import Path
from typing import Annotated, TypedDict

# Not this folder: the file is called like the package that it shows.
sys.path[0] = str(Path(__file__).with_name("common"))

from door import Done, Door, NotDone, Tidied, Waits, doubles, main
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt


class State(TypedDict, total=False):
    doubles: list[dict[str, str]]
    proposal: str | None
    removed: Annotated[list[str], add]
    kept: Annotated[list[tuple[str, str]], add]


def graph(door: Door) -> StateGraph:
    def look(_: State) -> State:
        match door.call("list_tasks", {"completed": False}, step="look"):
            case Done(data=data):
                return {"doubles": doubles(data["tasks"])}
            case other:
                raise RuntimeError(f"The list cannot be read: {other}")

    def ask(state: State) -> State:
        """Its own step, so that the checkpoint has the proposal before anybody waits for it."""
        task = state["doubles"][0]
        match door.call("delete_task", {"task_id": task["id"]}, step=f"remove-{task['id']}"):
            case Waits(proposal=proposal):
                return {"proposal": proposal}
            case answered:
                return outcome(state, answered)

    def wait(state: State) -> State:
        answer = door.decision(state["proposal"])
        while isinstance(answer, Waits):
            interrupt({"proposal": state["proposal"]})
            answer = door.decision(state["proposal"])
        return outcome(state, answer)

    def outcome(state: State, answer: Done | NotDone) -> State:
        task, *rest = state["doubles"]
        settled: State = {"doubles": rest, "proposal": None}
        if isinstance(answer, Done):
            return settled | {"removed": [task["title"]]}
        return settled | {"kept": [(task["title"], answer.why)]}

    def next_step(state: State) -> str:
        if state.get("proposal"):
            return "wait"
        return "ask" if state["doubles"] else END

    built = StateGraph(State)
    for node in (look, ask, wait):
        built.add_node(node.__name__, node)
        built.add_conditional_edges(node.__name__, next_step, ["ask", "wait", END])
    built.add_edge(START, "look")
    return built


def tidy(door: Door, thread: str, state: Path) -> Tidied:
    config: RunnableConfig = {"configurable": {"thread_id": thread}}
    with SqliteSaver.from_conn_string(str(state / "langgraph.sqlite")) as checkpoints:
        run = graph(door).compile(checkpointer=checkpoints)
        before = run.get_state(config)
        if before.interrupts:
            run.invoke(Command(resume="look again"), config)
        elif before.next or not before.values:  # killed between two steps, or never begun
            run.invoke(None if before.next else {"removed": [], "kept": []}, config)
        now = run.get_state(config)
    values = now.values
    return Tidied(values["removed"], dict(values["kept"]), values["proposal"] if now.interrupts else None)


if __name__ == "__main__":
    main("langgraph", tidy)
