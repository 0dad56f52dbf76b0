"""A call that waits for a person, as a card: who asked what and why, and the person's answer.

The same card stands in the inbox and in a conversation. A yes runs exactly what the card shows, once; what
cannot be undone is confirmed by typing the tool's name.
"""

import difflib
import json
from collections.abc import Callable, Mapping
from typing import Any, cast

import streamlit as st

from steward.contract.showing import ShownCall, show, show_arguments
from steward.surfaces.web import look, work
from steward.surfaces.web.session import api, may, plainly, say
from steward.surfaces.web.work import Job

Proposal = Mapping[str, Any]


def card(proposal: Proposal, *, answer: Callable[[str], None] | None = None) -> None:
    """What waits, or what became of it. In a conversation a yes or no goes to the agent: `answer`."""
    with st.container(border=True, key=f"proposal-{proposal['id']}"):
        _heading(proposal)
        st.code(_whole_call(proposal), language=None, wrap_lines=True)
        name = f"approve:{proposal['id']}"
        if ended := work.take(name):
            _finish(ended)
        if (running := work.find(name)) is not None:
            work.watch(running, _running)
        elif proposal["state"] == "waiting":
            _decision(proposal, answer)
        else:
            outcome(proposal)


def _whole_call(proposal: Proposal) -> str:
    """As every surface shows it; the page's code box is its fence."""
    shown = ShownCall(
        tool=proposal["tool"],
        arguments=proposal["arguments"],
        effect=proposal["effect"],
        reason=proposal["reason"],
    )
    return "\n".join(show(shown).split("\n")[1:-1])


def _heading(proposal: Proposal) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**`{proposal['tool']}`**", width="content")
        look.risk_badge(proposal["risk"])
        if proposal["state"] != "waiting":
            look.state_badge(proposal["state"])
    asked = f"Asked by {look.plain(proposal['caller'])} {look.ago(proposal['created_at'])}"
    said = proposal.get("utterance")
    st.caption(f"{asked}: “{look.plain(said)}”" if said else asked)


def _decision(proposal: Proposal, answer: Callable[[str], None] | None) -> None:
    if not may("approve"):
        st.caption("Your key may not decide this: it needs the role `approve`.")
        return
    edited = _edited(proposal)
    irreversible = proposal["risk"] == "irreversible"
    identity = proposal["id"]
    with st.form(f"decide-{identity}", border=False):
        typed = (
            st.text_input(
                f"It cannot be undone. Type {proposal['tool']} to confirm.",
                key=f"typed-{identity}",
                placeholder=proposal["tool"],
            )
            if irreversible
            else proposal["tool"]
        )
        with st.container(horizontal=True):
            yes = st.form_submit_button(
                "Approve and run", type="primary", icon=":material/check:", key=f"yes-{identity}"
            )
            no = st.form_submit_button("Reject", icon=":material/close:", key=f"no-{identity}")
            always = (
                not irreversible
                and may("admin")
                and st.form_submit_button(
                    "Always allow this tool here",
                    icon=":material/all_inclusive:",
                    type="tertiary",
                    key=f"always-{identity}",
                    help="Approves this call and writes the tool into policy.toml as trusted.",
                )
            )
    if no and answer is not None:
        answer("no")
        st.rerun()
    elif no:
        _reject(proposal)
    elif (yes or always) and (typed or "").strip() != proposal["tool"]:
        st.warning(f"Nothing was run. Type {proposal['tool']} to confirm.", icon=":material/keyboard:")
    elif yes and answer is not None and edited is None:
        answer("yes")
        st.rerun()
    elif yes or always:
        _approve(proposal, edited, always=bool(always))


def _edited(proposal: Proposal) -> dict[str, Any] | None:
    """The arguments as the person changed them, with the difference on the card; None when they did not."""
    before = look.pretty(proposal["arguments"])
    with st.expander("Edit the arguments first"):
        text = st.text_area("Arguments, as JSON", before, key=f"edit-{proposal['id']}", height=160)
        if text.strip() == before.strip():
            return None
        try:
            edited = json.loads(text)
        except ValueError as error:
            st.error(f"This is not JSON yet: {look.plain(str(error))}. It would run unchanged.")
            return None
        if not isinstance(edited, dict):
            st.error("Arguments are an object: { … }. It would run unchanged.")
            return None
        changed = cast("dict[str, Any]", edited)
        st.code(difference(proposal["arguments"], changed), language="diff", wrap_lines=True)
        st.caption("This is what would run; both versions stay on the record.")
    return changed


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    lines = difflib.unified_diff(show_arguments(before), show_arguments(after), lineterm="", n=3)
    return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))


def _approve(proposal: Proposal, edited: dict[str, Any] | None, *, always: bool) -> None:
    client = api()  # here, because the thread has no visit to take it from

    def run(_: Job) -> dict[str, Any]:
        if always:
            client.post(f"/v1/tools/{proposal['tool']}/trust")
        body = {} if edited is None else {"arguments": edited}
        return client.post(f"/v1/proposals/{proposal['id']}/approve", body)

    work.start(f"approve:{proposal['id']}", run)
    st.rerun()


def _running(job: Job) -> None:
    if not job.done:
        st.markdown(":material/hourglass_top: Running…")


def _finish(job: Job) -> None:
    """The approved call has ended: say so, and draw the page as it is now."""
    if job.error is not None:
        say(job.error.explain(), icon=":material/error:")
    elif job.result["success"]:
        say("Done.")
    else:
        say(f"It ran and failed: {job.result['error']}", icon=":material/error:")
    st.rerun()


def _reject(proposal: Proposal) -> None:
    with plainly():
        api().post(f"/v1/proposals/{proposal['id']}/reject", {})
        say("Rejected. Nothing was run.", icon=":material/block:")
        st.rerun()


_WAYS = {
    "page": "the page",
    "cli": "the command line",
    "api": "the API",
    "chat": "the conversation",
    "elicitation": "a client's question",
}


def _way(receipt: Mapping[str, Any]) -> str:
    """How the yes came in, with the key's role and the program's name."""
    said = [f"role {receipt['role']}" if receipt.get("role") else "", receipt.get("client") or ""]
    told = ", ".join(look.plain(each) for each in said if each and each != receipt["via"])
    via = str(receipt["via"])
    by_person = _WAYS.get(via, via)
    way = "the client itself, with no person asked" if receipt["answered_by"] == "client" else by_person
    return f"{way} ({told})" if told else way


def outcome(proposal: Proposal) -> None:
    """The receipt of a decision: who, when, by what way, to exactly which arguments, and what came of it."""
    receipt = proposal.get("receipt")
    if proposal.get("rejected_by"):
        why = f": {look.plain(proposal['rejected_why'])}" if proposal.get("rejected_why") else "."
        st.caption(f"{look.plain(proposal['rejected_by'])} rejected it{why} Nothing was run.")
    if receipt is None:
        return
    edited = " after editing the arguments" if receipt["edited"] else ""
    st.caption(
        f"{look.plain(receipt['approver'])} approved it {look.ago(receipt['approved_at'])} "
        f"through {_way(receipt)}{edited}. Receipt `{receipt['digest'][:16]}`"
    )
    if receipt["edited"]:
        st.code(difference(proposal["arguments"], receipt["arguments"]), language="diff", wrap_lines=True)
    result = proposal.get("result")
    if result:
        with st.expander("What came of it" if result.get("success") else "It failed"):
            st.code(look.pretty(result.get("error") or result.get("data")), language="json", wrap_lines=True)
