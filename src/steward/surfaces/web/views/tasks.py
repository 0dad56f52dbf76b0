"""The task list: add by a sentence, tick off, change in place, look back, take back."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from steward.surfaces.web import look, work
from steward.surfaces.web.session import api, may, plainly, quietly, say

Task = Mapping[str, Any]
PRIORITIES = ("low", "medium", "high")
COLOURS: dict[str, look.Colour] = {"low": "gray", "medium": "blue", "high": "red"}
STATES: dict[str, bool | None] = {"Open": False, "Done": True, "All": None}
DUE: dict[str, str | None] = {"Any time": None, "By today": "tomorrow", "Within a week": "in 7 days"}
PAGE = 25
SAMPLES = "samples"


def show() -> None:
    st.title("Tasks")
    with plainly():
        _add()
        _bring_samples()
        _list(_filters())


def _add() -> None:
    if not may("use"):
        return
    form = st.form("add-task", clear_on_submit=True, border=False)
    with form, st.container(horizontal=True, vertical_alignment="bottom"):
        sentence = st.text_input(
            "Add a task in your own words",
            placeholder="Call Ana tomorrow 5pm, high priority",
            key="sentence",
        )
        add = st.form_submit_button("Add", type="primary", icon=":material/add:")
    if add and sentence and sentence.strip():
        for read in api().get("/v1/tasks/read", text=sentence)["items"]:
            given = {name: value for name, value in read.items() if value is not None}
            problem = _problem(api().post("/v1/tasks", given))
            due = f", due {read['due_date'][:16].replace('T', ' ')}" if read["due_date"] else ""
            _note(problem, f"Added “{read['title']}”{due}.")
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center"):
        if last := st.session_state.get("last_change"):
            st.caption(look.plain(last), width="content")
        st.button("Undo", icon=":material/undo:", type="tertiary", on_click=_undo, key="undo")


def _filters() -> dict[str, Any]:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        state = st.segmented_control("Show", list(STATES), default="Open", required=True, key="task-state")
        due = st.selectbox("Due", list(DUE), key="task-due", width=150)
        priority = st.selectbox("Priority", ["Any", *PRIORITIES], key="task-priority", width=120)
        search = st.text_input("Search", type="search", key="task-search", width=210)
    return {
        "completed": STATES[str(state)],
        "due_before": DUE[due],
        "priority": None if priority == "Any" else priority,
        "search": (search or "").strip() or None,
    }


def _list(filters: dict[str, Any]) -> None:
    tasks = api().get("/v1/tasks", limit=100, **filters)["items"]
    if not tasks:
        _nothing(filters)
        return
    shown = st.session_state.setdefault("tasks-shown", PAGE)
    for task in tasks[:shown]:
        if st.session_state.get("editing") == task["id"]:
            _form(task)
        else:
            _row(task)
    if len(tasks) > shown and st.button(f"Show {len(tasks) - shown} more"):
        st.session_state["tasks-shown"] = shown + PAGE
        st.rerun()


def _nothing(filters: dict[str, Any]) -> None:
    if any(value is not None for name, value in filters.items() if name != "completed"):
        look.empty("No task fits", "Widen the filters above.", icon=":material/filter_alt_off:")
        return
    look.empty(
        "Nothing to do",
        "Write a task above, as you would say it: the date and the priority are read from your words.",
        icon=":material/task_alt:",
    )
    if may("admin") and filters["completed"] is not True:
        _offer_samples()


def _offer_samples() -> None:
    if work.find(SAMPLES) is None and st.button("Show me with some samples"):
        client = api()  # here, because the thread has no visit to take it from
        work.start(SAMPLES, lambda _: client.post("/v1/samples"))
        st.rerun()


def _bring_samples() -> None:
    """They come with documents to read, which takes a while; the tasks are there first."""
    if (ended := work.take(SAMPLES)) is not None:
        say(ended.error.explain() if ended.error else "The samples are here, documents to search as well.")
        st.rerun()
    if (coming := work.find(SAMPLES)) is not None:
        work.watch(coming, lambda _: st.caption(":material/hourglass_top: Bringing samples…"))


def _row(task: Task) -> None:
    identity = task["id"]
    with st.container(border=True, key=f"task-{identity}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.checkbox(
                look.plain(task["title"]),
                value=task["completed"],
                key=f"done-{identity}-{task['completed']}",
                on_change=_tick,
                args=(task,),
                disabled=not may("use"),
                width="stretch",
            )
            with st.container(horizontal=True, vertical_alignment="center", width="content", wrap=False):
                _badges(task)
                _buttons(task)
        if task["description"]:
            st.caption(look.plain(task["description"]))


def _badges(task: Task) -> None:
    if task["due_words"]:
        late = task["overdue"]
        st.badge(look.plain(task["due_words"]), icon=":material/event:", color="red" if late else "gray")
    if task["recurrence"]:
        st.badge("repeats", icon=":material/repeat:", color="violet", help=task["recurrence"])
    if task["priority"] != "medium":
        st.badge(task["priority"], color=COLOURS[task["priority"]])


def _buttons(task: Task) -> None:
    identity = task["id"]
    if may("use") and st.button(
        "", icon=":material/edit:", help="Edit", key=f"edit-{identity}", type="tertiary"
    ):
        st.session_state["editing"] = identity
        st.rerun()
    if st.button("", icon=":material/history:", help="History", key=f"log-{identity}", type="tertiary"):
        _history(task)
    if may("use") and st.button(
        "", icon=":material/delete:", help="Delete", key=f"delete-{identity}", type="tertiary"
    ):
        _delete(task)


def _form(task: Task) -> None:
    with st.form(f"form-{task['id']}"):
        title = st.text_input("Task", task["title"])
        left, right = st.columns(2)
        due = left.text_input(
            "Due", task["due_date"] or "", help="A date or words such as “next friday 3pm”; empty: none."
        )
        priority = right.selectbox("Priority", PRIORITIES, PRIORITIES.index(task["priority"]))
        notes = st.text_area("Notes", task["description"] or "", height=80)
        with st.container(horizontal=True):
            save = st.form_submit_button("Save", type="primary")
            cancel = st.form_submit_button("Cancel")
    if cancel:
        _close()
    if save:
        wanted = {"title": title, "due_date": due or None, "priority": priority, "description": notes or None}
        changed = {name: value for name, value in wanted.items() if value != task[name]}
        problem = _problem(api().patch(f"/v1/tasks/{task['id']}", changed)) if changed else None
        if problem:
            st.error(look.plain(problem), icon=":material/error:")
            return
        if changed:
            st.session_state["last_change"] = f"Changed “{title}”."
        _close()


def _close() -> None:
    st.session_state.pop("editing", None)
    st.rerun()


def _tick(task: Task) -> None:
    path = f"/v1/tasks/{task['id']}"
    with quietly():
        if task["completed"]:
            problem = _problem(api().patch(path, {"completed": False}))
        else:
            problem = _problem(api().post(f"{path}/complete"))
        word = "Reopened" if task["completed"] else "Done:"
        _note(problem, f"{word} “{task['title']}”.")


def _undo() -> None:
    st.session_state["last_change"] = None
    with quietly():
        undone = api().post("/v1/tasks/undo")
        if "status" in undone:  # what was only added goes again, with the person's click as the yes
            undone = api().approved(undone)
            if problem := _problem(undone):
                say(problem, icon=":material/error:")
                return
            undone = undone["data"]
        say(undone["message"], icon=":material/undo:")


def _problem(result: dict[str, Any]) -> str | None:
    """Why it did not take effect, in words; None when it did."""
    if result["status"] == "pending_approval":
        return "It waits for a yes under Approvals."
    return None if result["success"] else result["error"]


def _note(problem: str | None, change: str) -> None:
    if problem:
        say(problem, icon=":material/error:")
    else:
        st.session_state["last_change"] = change


@st.dialog("Delete this task?", icon=":material/delete:")
def _delete(task: Task) -> None:
    st.markdown(f"**{look.plain(task['title'])}** goes with its history, for good.")
    with st.container(horizontal=True):
        gone = st.button("Delete it", type="primary", key="delete-yes", on_click=_delete_now, args=(task,))
        kept = st.button("Keep it", key="delete-no")
        if gone or kept:
            st.rerun()


def _delete_now(task: Task) -> None:
    with quietly():
        asked = api().approved(api().delete(f"/v1/tasks/{task['id']}"))
        if problem := _problem(asked):
            say(problem, icon=":material/error:")
        else:
            st.session_state["last_change"] = None  # a deletion is final: there is nothing to offer
            say(f"Deleted “{task['title']}”.", icon=":material/delete:")


@st.dialog("What happened to it", icon=":material/history:")
def _history(task: Task) -> None:
    st.markdown(f"**{look.plain(task['title'])}**")
    with plainly():
        for event in api().get(f"/v1/tasks/{task['id']}/log")["items"]:
            undone = " (taken back)" if event["undone"] else ""
            st.markdown(f"**{event['action'].capitalize()}** {look.ago(event['at'])}{undone}")
            before: dict[str, Any] = event["before"] or {}
            if before:
                changes = (
                    f"{name}: {_value(before.get(name))} → {_value(value)}"
                    for name, value in event["after"].items()
                )
                st.caption(look.plain("; ".join(changes)))


def _value(value: Any) -> str:
    return "nothing" if value is None else str(value)
