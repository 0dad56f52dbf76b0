"""The inbox: calls and questions that wait for a person, and what was decided."""

from typing import Any

import streamlit as st

from steward.surfaces.web import decide, look
from steward.surfaces.web.session import api, may, plainly, say

DECIDED = ("finished", "rejected", "running", "unknown", "expired")


def show() -> None:
    st.title("Approvals")
    st.caption(
        "What cannot be undone, or reaches outside Steward, waits here for your yes. A yes runs it once."
    )
    waiting, decided = st.tabs(["Waiting", "Decided"])
    with waiting, plainly():
        _waiting()
    with decided, plainly():
        _decided()


def _waiting() -> None:
    proposals = api().get("/v1/proposals", state="waiting", limit=100)["items"]
    questions = api().get("/v1/questions", limit=100)["items"]
    if not proposals and not questions:
        look.empty(
            "Nothing waits for you",
            "When an agent or a client wants something that needs a yes, it appears here.",
            icon=":material/inbox:",
        )
    for question in questions:
        _question(question)
    for proposal in proposals:
        decide.card(proposal)


def _question(question: dict[str, Any]) -> None:
    with st.container(border=True):
        st.markdown(f"**:material/help: {look.plain(question['text'])}**")
        st.caption(f"Asked {look.ago(question['asked_at'])}")
        if not may("approve"):
            return
        with st.form(f"question-{question['id']}", border=False):
            label = "Your answer"
            answer = st.radio(label, question["choices"]) if question["choices"] else st.text_input(label)
            if st.form_submit_button("Answer", type="primary") and answer:
                with plainly():
                    api().post(f"/v1/questions/{question['id']}/answer", {"answer": answer})
                    say("Answered. Whoever asked gets it when it asks again.")
                    st.rerun()


def _decided() -> None:
    found = api().get("/v1/proposals", state=list(DECIDED), limit=50)
    if not found["items"]:
        look.empty(
            "Nothing was decided yet", "Receipts of what you approved stay here.", icon=":material/receipt:"
        )
    for proposal in found["items"]:
        decide.card(proposal)
