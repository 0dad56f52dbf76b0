"""What Steward can do and who does it: health, numbers, and definitions that were held back."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from steward.surfaces.web import look, measures, work
from steward.surfaces.web.session import api, may, plainly, say
from steward.surfaces.web.work import Job

Tool = Mapping[str, Any]
MOST_CHARTED = 12


def show() -> None:
    st.title("Tools and agents")
    with plainly():
        tools = api().get("/v1/tools", limit=1000)["items"]
        _held_back([tool for tool in tools if tool["blocked"]])
        find, who, how = st.tabs(["Tools", "Agents", "Numbers"])
        with find, plainly():
            _tools(tools)
        with who, plainly():
            _agents()
        with how, plainly():
            _numbers()


def _held_back(tools: Sequence[Tool]) -> None:
    """Definitions that changed or look suspicious: nobody can call them until a person has read them."""
    for tool in tools:
        with st.container(border=True, key=f"held-{tool['name']}"):
            st.markdown(f":material/gpp_maybe: **`{tool['name']}` is held back**")
            st.caption("Its server describes it differently now, or in a way that tries to steer a model.")
            st.code(tool["blocked"], language="diff", wrap_lines=True)
            if may("approve") and st.button(
                "I have read it: accept the definition", key=f"accept-{tool['name']}", icon=":material/check:"
            ):
                api().post(f"/v1/tools/{tool['name']}/accept")
                say(f"{tool['name']} is accepted as it is now.")
                st.rerun()


def _tools(tools: Sequence[Tool]) -> None:
    wanted = st.text_input(
        "What do you want to do?",
        placeholder="find a file, send a mail, what time is it in Tokyo …",
        type="search",
        key="tool-search",
    )
    if wanted and wanted.strip():
        found = api().get("/v1/tools/search", q=wanted.strip(), limit=10)["items"]
        if not found:
            look.empty(
                "No tool does that yet",
                "Connect a server in mcp.json, or add a Python tool with `steward tools add`.",
                icon=":material/construction:",
            )
        for tool in found:
            _tool(tool)
        return
    for agent in sorted({tool["agent"] for tool in tools}):
        st.subheader(look.plain(agent))
        for tool in tools:
            if tool["agent"] == agent:
                _tool(tool)


def _tool(tool: Tool) -> None:
    words, colour = look.RISKS[tool["risk"]]
    away = "" if tool["available"] else look.badge("not available", "gray")
    label = f"**{look.plain(tool['name'])}** {look.badge(words, colour)} {away}"
    with st.expander(label):
        st.markdown(look.plain(tool["description"]))
        if tool["suggested_risk"]:
            st.caption(f"Nobody has rated it; it looks {tool['suggested_risk']}. Rate it in policy.toml.")
        for example in tool["examples"]:
            st.caption(f"“{look.plain(example)}”")
        st.code(look.pretty(tool["input_schema"]), language="json", wrap_lines=True)


def _agents() -> None:
    for agent in api().get("/v1/agents")["items"]:
        identity = agent["id"]
        with st.container(border=True, key=f"agent-{identity}"):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(f"**{look.plain(identity)}**", width="content")
                look.state_badge(agent["state"])
                st.caption(look.counted(len(agent["tools"]), "tool"), width="stretch")
                with st.container(horizontal=True, vertical_alignment="center", width="content", wrap=False):
                    if st.button(
                        "Health", icon=":material/ecg_heart:", type="tertiary", key=f"health-{identity}"
                    ):
                        st.session_state["health-of"] = identity
                    _switch(agent)
            if agent["problem"]:
                st.markdown(f":material/warning: {look.plain(agent['problem'])}")
            if st.session_state.get("health-of") == identity:
                with plainly():
                    health = api().get(f"/v1/agents/{identity}/health")
                    words = "Healthy" if health["healthy"] else "Not healthy"
                    st.markdown(f"**{words}.** {look.plain(health['detail'])}")
                    if health["facts"]:
                        st.json(health["facts"])


def _switch(agent: Mapping[str, Any]) -> None:
    """Start or stop it. A server may take its time, so nobody waits for it."""
    if not may("admin"):
        return
    identity = agent["id"]
    runs = agent["state"] == "running"
    word, icon = ("Stop", ":material/stop:") if runs else ("Start", ":material/play_arrow:")
    name = f"switch:{identity}"
    if (ended := work.take(name)) is not None:
        _switched(identity, ended)
    if (working := work.find(name)) is not None:
        work.watch(working, lambda _: st.caption(":material/hourglass_top: One moment…", width="content"))
    elif st.button(word, icon=icon, key=f"switch-{identity}"):
        client = api()  # here, because the thread has no visit to take it from
        work.start(name, lambda _: client.post(f"/v1/agents/{identity}/{word.lower()}"))
        st.rerun()


def _switched(identity: str, job: Job) -> None:
    if job.error is not None:
        say(job.error.explain(), icon=":material/error:")
    else:
        say(f"{identity} is {job.result['state']}.")
    st.rerun()


def _numbers() -> None:
    fared = measures.fared(api().get("/v1/executions", limit=1000)["items"])[:MOST_CHARTED]
    if not fared:
        look.empty("No numbers yet", "They come with the first calls.", icon=":material/bar_chart:")
        return
    st.caption("Of the last thousand calls. Prometheus finds all of them at `/metrics`.")
    st.markdown("**How long a call takes** (median)")
    times = [(item.tool, item.median_ms, look.milliseconds(item.median_ms)) for item in fared]
    look.compare("Median time of each tool", times)
    st.markdown("**How often it fails**")
    shares = [(item.tool, item.failed_share, f"{100 * item.failed_share:.0f} %") for item in fared]
    look.compare("Share of failed calls of each tool", shares, kind="failed")
    look.table(
        ("Tool", "Calls", "Failed", "Median", "Slowest"),
        [
            (
                item.tool,
                str(item.calls),
                str(item.failed),
                look.milliseconds(item.median_ms),
                look.milliseconds(item.slowest_ms),
            )
            for item in fared
        ],
    )
