"""Talking with an agent: what it says, what it does meanwhile, and what it needs a yes for.

A turn runs in a thread of its own and is drawn as its events come; the conversation itself is the API's.
"""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from steward.surfaces.web import decide, look, work
from steward.surfaces.web.session import api, go, may, plainly, say
from steward.surfaces.web.work import Job

Answer = Mapping[str, Any]
Call = Mapping[str, Any]
TURN = "turn"
AGENTS = {
    "assistant": "Helps with everything: tasks, knowledge, the web, files",
    "tasks": "Keeps your task list",
    "researcher": "Finds things out, and says where it has them from",
}
EXAMPLES = (
    "What is due this week?",
    "Add water the plants tomorrow 9am",
    "What does Steward ask a person for?",
)


def show() -> None:
    with plainly():
        if ended := work.take(TURN):
            _finish(ended)
        conversation = _conversation()
        _sidebar(conversation)
        st.title("Chat")
        turns: list[Mapping[str, Any]] = list(conversation["turns"]) if conversation else []
        for number, turn in enumerate(turns, 1):
            with st.chat_message("user"):
                st.markdown(look.plain(turn["said"]))
            with st.chat_message("assistant", avatar=str(look.PICTURES / "icon.svg")):
                draw_answer(turn["answer"], last=number == len(turns))
        running = work.find(TURN) is not None
        if running:
            _running()
        elif not turns:
            _welcome()
        if may("use"):
            _input(conversation, running=running)


def _conversation() -> Mapping[str, Any] | None:
    chosen = st.query_params.get("conversation")
    return api().get(f"/v1/conversations/{chosen}") if chosen else None


def _sidebar(conversation: Mapping[str, Any] | None) -> None:
    with st.sidebar:
        if st.button("New conversation", icon=":material/add_comment:", shortcut="Alt+N", width="stretch"):
            st.query_params.clear()
            st.rerun()
        for item in api().get("/v1/conversations", limit=20)["items"]:
            here = conversation is not None and item["id"] == conversation["id"]
            title = look.plain(item["title"][:40] or "Without words")
            waits = " :orange-badge[waits]" if item["pending"] else ""
            kind = "secondary" if here else "tertiary"
            if st.button(f"{title}{waits}", key=f"conversation-{item['id']}", type=kind, width="stretch"):
                st.query_params["conversation"] = item["id"]
                st.rerun()
        if conversation is not None and may("use"):
            st.divider()
            st.button(
                "Delete this conversation",
                icon=":material/delete:",
                type="tertiary",
                on_click=_forget,
                args=(conversation["id"],),
            )


def _forget(conversation: str) -> None:
    api().delete(f"/v1/conversations/{conversation}")
    st.query_params.clear()
    say("The conversation is gone. What was done in it stays done.", icon=":material/delete:")


def _welcome() -> None:
    look.empty(
        "What can I do for you?",
        "Ask, or say what is to be done. What cannot be undone waits for your yes.",
        icon=":material/waving_hand:",
    )
    if may("use"):
        with st.container(horizontal=True, horizontal_alignment="center"):
            for number, example in enumerate(EXAMPLES):
                st.button(example, key=f"example-{number}", on_click=_ask, args=(example,))


def _input(conversation: Mapping[str, Any] | None, *, running: bool) -> None:
    if conversation is None:
        st.selectbox(
            "Agent",
            list(AGENTS),
            key="agent",
            format_func=lambda name: f"{name}: {AGENTS[name]}",
            width=420,
            disabled=running,
        )
    else:
        st.caption(f"You talk with the agent {look.plain(conversation['agent'])}.")
    said = st.chat_input("Say something", disabled=running, max_chars=20_000, key="message")
    if said:
        _ask(str(said))
        st.rerun()


def _ask(message: str) -> None:
    """Begin a turn; it goes on whatever the visitor looks at meanwhile."""
    client = api()  # here, because the thread has no visit to take it from
    conversation = st.query_params.get("conversation")
    body = {"message": message, "conversation": conversation, "via": "page"}
    if conversation is None:
        body["agent"] = st.session_state.get("agent") or next(iter(AGENTS))

    def run(job: Job) -> Answer | None:
        for name, data in client.events("/v1/chat", body):
            job.notes.append((name, data))
            if name == "done":
                return data
        return None

    work.start(TURN, run)
    st.session_state["asked"] = message


def _running() -> None:
    with st.chat_message("user"):
        st.markdown(look.plain(st.session_state.get("asked", "")))
    with st.chat_message("assistant", avatar=str(look.PICTURES / "icon.svg")):
        work.watch(TURN, _progress)


def _progress(job: Job) -> None:
    """What has come of a running turn so far."""
    notes: list[tuple[str, dict[str, Any]]] = list(job.notes)
    ended = {data.get("call_id") for name, data in notes if name == "tool_result"}
    for name, data in notes:
        if name == "tool_call" and data["call_id"] not in ended:
            st.markdown(f":material/hourglass_top: `{data['tool']}` runs…")
        elif name == "tool_result":
            _call(data)
    said = "".join(data["text"] for name, data in notes if name == "text")
    steps = [data["text"] for name, data in notes if name == "progress"]
    if said:
        st.markdown(said)
    else:
        st.caption(look.plain(steps[-1] if steps else "Thinking…"))


def _finish(job: Job) -> None:
    if job.error is not None:
        say(job.error.explain(), icon=":material/error:")
    elif job.result is not None:
        st.query_params["conversation"] = job.result["conversation"]
    st.rerun()


def draw_answer(answer: Answer, *, last: bool) -> None:
    for call in answer["tool_calls"]:
        _call(call)
    if answer["status"] == "gap":
        _gap(answer)
    elif answer["status"] == "failed":
        st.error(look.plain(answer["answer"]), icon=":material/error:")
    else:
        st.markdown(answer["answer"])
    if answer["sources"]:
        st.markdown("\n".join(_source(number, item) for number, item in enumerate(answer["sources"], 1)))
    if answer["reasoning"]:
        with st.expander("How it got there"):
            st.markdown(look.plain(answer["reasoning"]))
            st.caption(f"Confidence {answer['confidence']:.2f}, computed from what was found")
    if last and answer["status"] == "pending_approval" and answer["proposal_id"]:
        _approval(answer["proposal_id"])


def _call(call: Call) -> None:
    """A tool call as a card: what went in, what came out, how long it took, how risky it is."""
    words, colour = look.STATES.get(call["status"], (call["status"], "gray"))
    risk, shade = look.RISKS.get(call.get("risk") or "", ("", "gray"))
    time = look.plain(look.milliseconds(call.get("duration_ms") or 0))
    label = f":material/build: **{look.plain(call['tool'])}** {look.badge(words, colour)}"
    label += f" {look.badge(risk, shade)} {time}" if risk else f" {time}"
    with st.expander(label):
        st.caption("What went in")
        st.code(look.pretty(call["arguments"]), language="json", wrap_lines=True)
        result = call.get("error") or call.get("data")
        if result is not None:
            st.caption("What came out")
            st.code(look.pretty(result), language="json", wrap_lines=True, height="content")
        if call.get("call_id") and st.button(
            "Show the whole run", icon=":material/timeline:", key=f"run-{call['call_id']}-{call['status']}"
        ):
            go("activity", trace=call["call_id"])


def _source(number: int, source: Mapping[str, Any]) -> str:
    title = look.plain(source["title"])
    where = source["location"]
    named = f"[{title}]({where})" if where.startswith(("http://", "https://")) else f"{title} `{where}`"
    more = " · ".join(look.plain(part) for part in (source.get("detail"), source.get("date")) if part)
    return f"{number}. {named} {more}"


def _gap(answer: Answer) -> None:
    """No tool can do it: what is missing, and what a person can do about that."""
    with st.container(border=True):
        st.markdown(f":material/extension_off: **{look.plain(answer['answer'])}**")
        missing = ", ".join(f"`{name}`" for name in answer["missing_tools"])
        if missing:
            st.markdown(f"Missing: {missing}")
        st.caption(
            "A server in mcp.json or a Python tool (`steward tools add`) can close the gap. "
            "Under “Tools and agents” you see what there is."
        )


def _approval(proposal_id: str) -> None:
    proposal = api().get(f"/v1/proposals/{proposal_id}")
    if proposal["state"] == "waiting":
        decide.card(proposal, answer=_ask)
    else:
        decide.card(proposal)
