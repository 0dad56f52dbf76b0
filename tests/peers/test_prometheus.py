"""A real Prometheus reads `/metrics`, and every query of the dashboard finds something to show."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.attacks.conftest import ADMIN, Victim
from tests.peers.setup import PEERS, ROOT, installed
from tests.support.mcp_servers import free_port
from tests.support.waiting import until

PROGRAM = PEERS / "prometheus" / "usr" / "bin" / "prometheus"
DASHBOARD = ROOT / "docs" / "grafana" / "steward.json"
EXAMPLE = ROOT / "docs" / "grafana" / "prometheus.yml"


@pytest.fixture
def prometheus(house: Victim, tmp_path: Path) -> Iterator[httpx.Client]:
    """The example's configuration, with this Steward's address and key, asking once a second."""
    (tmp_path / "key").write_text(house.key("read"))
    written = EXAMPLE.read_text(encoding="utf-8")
    changes = {
        "/etc/prometheus/steward-key": str(tmp_path / "key"),
        "127.0.0.1:8700": house.url.removeprefix("http://"),
        "15s": "1s",
    }
    for before, after in changes.items():
        assert before in written
        written = written.replace(before, after)
    (tmp_path / "prometheus.yml").write_text(written)
    port = free_port()
    process = subprocess.Popen(
        [installed(PROGRAM), f"--config.file={tmp_path / 'prometheus.yml'}",
         f"--storage.tsdb.path={tmp_path / 'data'}", f"--web.listen-address=127.0.0.1:{port}",
         "--enable-feature=exemplar-storage"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
            yield client
    finally:
        process.terminate()
        process.wait(20)


def asked(prometheus: httpx.Client, query: str) -> list[Any]:
    try:
        answer = prometheus.get("/api/v1/query", params={"query": query})
    except httpx.TransportError:  # not up yet
        return []
    return answer.json()["data"]["result"] if answer.status_code == 200 else []


def examples(prometheus: httpx.Client) -> list[Any]:
    asked_for = {"query": "steward_tool_call_seconds_bucket", "start": "0", "end": "9999999999"}
    return prometheus.get("/api/v1/query_exemplars", params=asked_for).raise_for_status().json()["data"]


async def test_every_query_of_the_dashboard_is_evaluated_on_what_steward_tells(
    house: Victim, prometheus: httpx.Client
) -> None:
    person = house.client(ADMIN)
    queries = [
        target["expr"] for panel in json.loads(DASHBOARD.read_text())["panels"] for target in panel["targets"]
    ]

    async def shown() -> bool:
        for body in ({"timezone": "UTC"}, {"timezone": "Mars"}):
            person.post("/v1/tools/get_current_time/call", json={"arguments": body})
        person.post("/v1/chat", json={"message": "what time is it?"})
        person.post("/v1/tools/code_execution/call", json={"arguments": {"code": "print(1)"}})
        await asyncio.sleep(1)
        return len(queries) > 12 and all(asked(prometheus, query) for query in queries)

    await until(shown, seconds=120)
    exemplars = examples(prometheus)
    assert all(each["labels"]["trace_id"] for series in exemplars for each in series["exemplars"])
    assert exemplars
