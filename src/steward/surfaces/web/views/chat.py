"""Talking with an agent: what it says, what it does meanwhile, and what it needs a yes for.

A turn runs in a thread of its own and is drawn as its events come; the conversation itself is the API's.
"""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from steward.surfaces.web import look, turns, work
from steward.surfaces.web.answers import draw_answer, draw_call
from steward.surfaces.web.session import api, may, plainly, quietly, say
from steward.surfaces.web.work import Job

Conversation = Mapping[str, Any]
AGENTS = {
    "assistant": "tasks, documents, web, files",
    "tasks": "your task list",
    "researcher": "finds out, with sources",
}
EXAMPLES = {
    "What is due this week?": "assistant",
    "Add water the plants tomorrow 9am": "assistant",
    "Where are my documents kept?": "researcher",
}


def show() -> None:
    with plainly():
        here = _here()
        if ended := turns.ended(here):
            _finish(ended)
        conversation = api().get(f"/v1/conversations/{here}") if here else None
        _sidebar(conversation)
        st.title("Chat")
        past: list[Mapping[str, Any]] = list(conversation["turns"]) if conversation else []
        for number, turn in enumerate(past, 1):
            _said(turn["said"])
            with _answering():
                draw_answer(turn["answer"], last=number == len(past), reply=_ask)
        running = turns.running(here)
        if running is not None:
            _running(running)
        elif not past:
            _welcome()
        if may("use"):
            _input(conversation, running=running)


def _here() -> str | None:
    """The conversation on the page. A new one is followed to the name it got."""
    here = st.query_params.get("conversation")
    if here is None and (here := turns.named()):
        st.query_params["conversation"] = here
    return here


def _said(text: str) -> None:
    with st.chat_message("user", avatar=":material/person:"):
        st.markdown(look.broken(look.plain(text)))


def _answering() -> Any:
    return st.chat_message("assistant", avatar=str(look.PICTURES / "icon.svg"))


def _sidebar(conversation: Conversation | None) -> None:
    with st.sidebar:
        if st.button("New conversation", icon=":material/add_comment:", shortcut="Alt+N", width="stretch"):
            st.query_params.clear()
            st.rerun()
        for item in api().get("/v1/conversations", limit=20)["items"]:
            here = conversation is not None and item["id"] == conversation["id"]
            title = look.plain(look.short(item["title"], 48) or "Without words")
            waits = f" {look.badge('waits', 'orange')}" if item["pending"] else ""
            waits = f" {look.badge('works', 'blue')}" if turns.running(item["id"]) else waits
            kind = "secondary" if here else "tertiary"
            if st.button(f"{title}{waits}", key=f"conversation-{item['id']}", type=kind, width="stretch"):
                st.query_params["conversation"] = item["id"]
                st.rerun()
        if conversation is not None and may("use"):
            st.divider()
            if st.button("Delete this conversation", icon=":material/delete:", type="tertiary"):
                _delete(conversation["id"])


@st.dialog("Delete this conversation?", icon=":material/delete:")
def _delete(conversation: str) -> None:
    st.markdown("It goes with all its turns, for good. What was done in it stays done.")
    with st.container(horizontal=True):
        gone = st.button(
            "Delete it", type="primary", key="delete-yes", on_click=_delete_now, args=(conversation,)
        )
        kept = st.button("Keep it", key="delete-no")
        if gone or kept:
            st.rerun()


def _delete_now(conversation: str) -> None:
    with quietly():
        answer = api().approved(api().delete(f"/v1/conversations/{conversation}"))
        if answer["success"]:
            st.query_params.clear()
            say("The conversation is gone. What was done in it stays done.", icon=":material/delete:")
        else:
            say(answer["error"], icon=":material/error:")


def _welcome() -> None:
    look.empty(
        "What can I do for you?",
        "Ask, or say what is to be done. What cannot be undone waits for your yes.",
        icon=":material/waving_hand:",
    )
    if may("use"):
        with st.container(horizontal=True, horizontal_alignment="center"):
            for number, (example, agent) in enumerate(EXAMPLES.items()):
                st.button(example, key=f"example-{number}", on_click=_ask, args=(example, agent))


def _input(conversation: Conversation | None, *, running: Job | None) -> None:
    if conversation is None:
        st.selectbox(
            "Agent",
            list(AGENTS),
            key="agent",
            format_func=lambda name: f"{name}: {AGENTS[name]}",
            width=420,
            disabled=running is not None,
        )
    else:
        st.caption(f"You talk with the agent {look.plain(conversation['agent'])}.")
    said = st.chat_input("Say something", disabled=running is not None, max_chars=20_000, key="message")
    if said:
        _ask(str(said))
        st.rerun()


def _ask(message: str, agent: str | None = None) -> None:
    here = st.query_params.get("conversation")
    chosen = agent or st.session_state.get("agent") or next(iter(AGENTS))
    turns.begin(message, conversation=here, agent=None if here else chosen)


def _running(turn: Job) -> None:
    _said(turns.said(turn))
    here = turns.opened(turn)
    with _answering():
        # A new conversation gets its name first; then it can be stopped.
        work.watch(turn, _progress, until=lambda job: job.done or (here is None and turns.opened(job)))
        st.button(
            "Stop",
            icon=":material/stop_circle:",
            key="stop",
            shortcut="Escape",
            help="End this answer. What was done until then stays done.",
            disabled=here is None,
            on_click=turns.stop,
            args=(here,),
        )


def _progress(turn: Job) -> None:
    """What has come of a running turn so far."""
    notes = turns.notes(turn)
    ended = {data.get("call_id") for name, data in notes if name == "tool_result"}
    for name, data in notes:
        if name == "tool_call" and data["call_id"] not in ended:
            st.markdown(f":material/hourglass_top: `{data['tool']}` runs…")
        elif name == "tool_result":
            draw_call(data, ended=False)
    said = "".join(data["text"] for name, data in notes if name == "text")
    steps = [data["text"] for name, data in notes if name == "progress"]
    if said:
        st.markdown(look.broken(said))
    else:
        st.caption(look.plain(steps[-1] if steps else "Thinking…"))


def _finish(turn: Job) -> None:
    if turn.error is not None:
        say(turn.error.explain(), icon=":material/error:")
    elif turn.result is not None:
        st.query_params["conversation"] = turn.result["conversation"]
    st.rerun()
