"""What an agent answered, as it stands in a conversation: its words, calls, sources, and what is missing.

Owns how an answer looks. Who asks, and what follows, is the conversation's (views/chat.py).
"""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from steward.surfaces.web import decide, look
from steward.surfaces.web.session import api, go

Answer = Mapping[str, Any]
Call = Mapping[str, Any]
LINKS = ("http://", "https://")


def draw_answer(answer: Answer, *, last: bool, reply: Callable[[str], None]) -> None:
    """`reply` says a yes or no to the agent, where the last answer asks for one."""
    for call in answer["tool_calls"]:
        draw_call(call)
    if answer["status"] == "gap":
        _gap(answer)
    elif answer["status"] == "failed":
        st.error(look.plain(answer["answer"]), icon=":material/error:")
    elif last and answer["status"] == "pending_approval":
        st.markdown(look.plain(answer["answer"].partition("\n\n```")[0]))  # the card below shows the call
    else:
        st.markdown(look.broken(_words(answer)))
    if sources := [source for source in answer["sources"] if _unnamed(source, answer)]:
        st.markdown("\n".join(map(_source, sources)))
    if answer["reasoning"]:
        with st.expander("How it got there"):
            st.markdown(look.plain(answer["reasoning"]))
            st.caption(f"Confidence {answer['confidence']:.2f}, computed from what was found")
    if last and answer["status"] == "pending_approval" and answer["proposal_id"]:
        proposal = api().get(f"/v1/proposals/{answer['proposal_id']}")
        decide.card(proposal, answer=reply if proposal["state"] == "waiting" else None)


def draw_call(call: Call, *, ended: bool = True) -> None:
    """A tool call as a card: what went in, what came out, how long it took, how risky it is.

    Once its turn has `ended`, it leads to the whole run.
    """
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
        if (
            ended
            and call.get("call_id")
            and st.button(
                "Show the whole run",
                icon=":material/timeline:",
                key=f"run-{call['call_id']}-{call['status']}",
            )
        ):
            go("activity", trace=call["call_id"])


def _words(answer: Answer) -> str:
    """The answer, with uploaded documents by their names as everywhere on the page."""
    text: str = answer["answer"]
    for source in answer["sources"]:
        text = text.replace(source["location"], look.place(source["location"]))
    return text


def _unnamed(source: Mapping[str, Any], answer: Answer) -> bool:
    """A page is worth a link in any case; a document only where the answer does not name it itself."""
    return source["location"].startswith(LINKS) or source["location"] not in answer["answer"]


def _source(source: Mapping[str, Any]) -> str:
    """Without a number: the answer has its own for what it quotes."""
    title = look.plain(source["title"])
    where = source["location"]
    named = f"[{title}]({where})" if where.startswith(LINKS) else f"{title} `{look.place(where)}`"
    more = " · ".join(look.plain(part) for part in (source.get("detail"), source.get("date")) if part)
    return f"- {named} {more}"


def _gap(answer: Answer) -> None:
    """No tool can do it: what is missing, and what a person can do about that."""
    with st.container(border=True):
        missing = ", ".join(f"`{name}`" for name in answer["missing_tools"])
        st.markdown(
            f":material/extension_off: **No tool can do this yet.** {missing and f'Missing: {missing}'}"
        )
        st.markdown(look.named(answer["answer"]))
        st.caption(
            "A server in mcp.json or a Python tool (`steward tools add`) can close the gap. "
            "Under “Tools and agents” you see what there is."
        )
