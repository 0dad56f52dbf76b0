"""What was run, when and with what result; and, for one run, where its time went."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import streamlit as st

from steward.contract.errors import ErrorCode, StewardError
from steward.surfaces.web import look, waterfall
from steward.surfaces.web.session import api, explain, me, plainly

Execution = Mapping[str, Any]
STATUSES = {"Any": None, "Done": "done", "Failed": "failed", "Waits for a yes": "pending_approval"}
SINCE = {"Any time": None, "Last hour": 1, "Last day": 24, "Last week": 168}
PAGE = 30


def show() -> None:
    st.title("Activity")
    trace = st.query_params.get("trace")
    with plainly():
        if trace:
            _run(trace)
        else:
            _log()


def _log() -> None:
    known = [tool["name"] for tool in api().get("/v1/tools", limit=1000)["items"]]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        tool = st.selectbox("Tool", known, index=None, placeholder="Any", key="log-tool", width=260)
        status = st.selectbox("Result", list(STATUSES), key="log-status", width=170)
        since = st.selectbox("When", list(SINCE), key="log-since", width=150)
        st.button("Refresh", icon=":material/refresh:")
    hours = SINCE[since]
    moment = None if hours is None else (datetime.now(UTC) - timedelta(hours=hours)).isoformat()
    count = st.session_state.setdefault("log-count", PAGE)
    found = api().get(
        "/v1/executions", tool=tool, status=STATUSES[status], since=moment, limit=min(count, 1000)
    )
    if not found["items"]:
        look.empty(
            "Nothing was run yet",
            "Every call leaves a line here, whoever made it: a person, an agent or a client.",
            icon=":material/monitoring:",
        )
    for number, item in enumerate(found["items"]):
        _line(item, number)
    if found["next"] and st.button("Show more"):
        st.session_state["log-count"] = count + PAGE
        st.rerun()


def _line(item: Execution, number: int) -> None:
    # By number as well: a call that waited and then ran has two lines.
    key = f"{item['call_id']}-{number}"
    words, colour = look.STATES.get(item["status"], (item["status"], "gray"))
    risk, shade = look.RISKS.get(item.get("risk") or "", ("", "gray"))
    parts = [
        f"**{look.plain(item['tool'])}**",
        look.badge(words, colour),
        look.badge(risk, shade) if risk and shade != "green" else "",
        look.plain(f"{look.ago(item['at'])} · {look.milliseconds(item['duration_ms'])}"),
        look.plain(f"· {item['caller']['kind']} {item['caller']['id']}"),
    ]
    with st.expander(" ".join(part for part in parts if part), key=f"execution-{key}"):
        if item.get("error"):
            st.markdown(look.plain(str(item["error"])))
        st.caption("What went in")
        st.code(look.pretty(item["arguments"]), language="json", wrap_lines=True)
        if item.get("output") is not None:
            st.caption("What came out")
            st.code(look.pretty(item["output"]), language="json", wrap_lines=True, height=260)
        if st.button("Show the whole run", icon=":material/timeline:", key=f"trace-{key}"):
            st.query_params["trace"] = item["correlation_id"]
            st.rerun()


def _run(trace: str) -> None:
    if st.button("All activity", icon=":material/arrow_back:", type="tertiary"):
        del st.query_params["trace"]
        st.rerun()
    try:
        spans = api().get(f"/v1/traces/{trace}")["items"]
    except StewardError as error:
        if error.code != ErrorCode.NOT_FOUND:
            raise
        explain(error)
        st.button("Look again", icon=":material/refresh:")
        return
    rows = waterfall.rows(spans)
    total = waterfall.total_ms(spans)
    st.subheader(f"One run: {look.plain(rows[0].name)}, {len(rows)} spans, {look.milliseconds(total)}")
    st.caption(f"Trace `{spans[0]['trace_id']}` · began {look.ago(spans[0]['at'])}")
    viewer = me()["trace_viewer"]
    if viewer:
        st.link_button(
            "Open in Jaeger",
            f"{viewer.rstrip('/')}/trace/{spans[0]['trace_id']}",
            icon=":material/open_in_new:",
        )
    st.html(waterfall.markup(rows))
    for row in rows:
        icon = ":material/error:" if row.failed else None
        with st.expander(f"{look.plain(row.name)} · {look.milliseconds(row.duration_ms)}", icon=icon):
            st.json(dict(row.span["attributes"]))
