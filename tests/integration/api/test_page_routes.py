"""The routes that the page needs beside everybody's."""

import asyncio
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from steward.bootstrap import Platform
from steward.bootstrap.samples import documentation


async def test_the_caller_learns_who_they_are(api: httpx.AsyncClient) -> None:
    assert (await api.get("/v1/me")).json() == {
        "name": "local",
        "role": "admin",
        "user": "local",
        "trace_viewer": None,
    }


def read_events(lines: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    name = ""
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


async def collection(api: httpx.AsyncClient, name: str) -> None:
    made = {"arguments": {"action": "create", "collection_name": name}}
    assert (await api.post("/v1/tools/manage_collections/call", json=made)).json()["success"]


async def test_an_uploaded_file_is_kept_and_ingested(api: httpx.AsyncClient, platform: Platform) -> None:
    await collection(api, "Notes")
    path = "/v1/knowledge/collections/Notes/files/bees.md"
    added = await api.put(path, content=b"# Bees\n\nThey dance.\n")
    assert (added.status_code, added.json()["data"]["added"]) == (200, 1)
    assert (platform.settings.uploads_folder / "Notes" / "bees.md").read_bytes() == b"# Bees\n\nThey dance.\n"
    changed = await api.put(path, content=b"# Bees\n\nThey sing.\n")
    assert changed.json()["data"]["updated"] == 1
    [item] = (await api.get("/v1/knowledge/collections/Notes/documents")).json()["items"]
    assert item["source"] == "upload:Notes/bees.md"  # the same at whichever instance it arrives
    assert item["metadata"]["kept_at"].endswith("/uploads/Notes/bees.md")


async def test_an_upload_is_followed_passage_by_passage(api: httpx.AsyncClient, platform: Platform) -> None:
    await collection(api, "Notes")
    text = "".join(f"# Chapter {number}\n\nWhat chapter {number} says.\n\n" for number in range(100))
    headers = {"Accept": "text/event-stream"}
    path = "/v1/knowledge/collections/Notes/files"
    read = list(read_events((await api.put(f"{path}/a.md", content=text, headers=headers)).text.split("\n")))
    steps = [data for name, data in read if name == "progress"]
    assert (steps[-1]["done"], steps[-1]["message"]) == (steps[-1]["total"], "a.md")
    name, result = read[-1]
    assert (name, result["success"], result["data"]["added"]) == ("result", True, 1)
    failed = await api.put(f"{path}/a.exe", content=b"MZ", headers=headers)
    [(name, result)] = read_events(failed.text.split("\n"))
    assert (name, result["success"]) == ("result", False)
    kept = platform.settings.uploads_folder / "Notes"
    assert [file.name for file in kept.iterdir()] == ["a.md"]


async def test_an_upload_that_cannot_be_read_leaves_nothing_behind(
    api: httpx.AsyncClient, platform: Platform
) -> None:
    await collection(api, "Notes")
    failed = await api.put("/v1/knowledge/collections/Notes/files/a.exe", content=b"MZ")
    assert (failed.status_code, failed.json()["success"]) == (200, False)
    assert list((platform.settings.uploads_folder / "Notes").iterdir()) == []


@pytest.mark.parametrize("name", ["..%2Fpolicy.toml", ".hidden", "a%5Cb.md", "a%0Ab.md", "x" * 200])
async def test_an_upload_cannot_leave_its_folder(api: httpx.AsyncClient, name: str) -> None:
    await collection(api, "Notes")
    refused = await api.put(f"/v1/knowledge/collections/Notes/files/{name}", content=b"x")
    assert refused.status_code in (400, 404, 405)


async def test_an_upload_into_no_collection_is_refused(api: httpx.AsyncClient) -> None:
    refused = await api.put("/v1/knowledge/collections/None/files/a.md", content=b"x")
    assert refused.status_code == 404


async def test_an_upload_may_be_larger_than_other_bodies_but_not_without_end(api: httpx.AsyncClient) -> None:
    await collection(api, "Notes")
    path = "/v1/knowledge/collections/Notes/files/large.exe"
    large = await api.put(path, content=b"x" * 10_000_000)
    assert (large.status_code, large.json()["success"]) == (200, False)
    endless = await api.put(path, content=b"x", headers={"content-length": str(65 * 1024 * 1024)})
    assert endless.status_code == 413


async def test_an_irreversible_tool_cannot_be_trusted_away(
    api: httpx.AsyncClient, platform: Platform
) -> None:
    before = platform.settings.policy_file.read_text()
    refused = await api.post("/v1/tools/code_execution/trust")
    assert (refused.status_code, refused.json()["code"]) == (409, "ALWAYS_REFUSED")
    assert platform.settings.policy_file.read_text() == before


async def test_trust_is_written_once_and_keeps_what_a_person_wrote(
    api: httpx.AsyncClient, platform: Platform
) -> None:
    policy = platform.settings.policy_file
    policy.write_text("# mine\nprotect = ['~/Private/**']\n")
    for _ in range(2):
        assert (await api.post("/v1/tools/log_to_obsidian/trust")).status_code == 200
    mine, rule = policy.read_text().split("\n\n")
    assert mine == "# mine\nprotect = ['~/Private/**']"
    assert rule == '[[rule]]\n# local said always\ntool = "log_to_obsidian"\ntrust = true\n'


@pytest.mark.parametrize(
    "text", ['[[rule]]\ntool = "log_to_obsidian"\ntrust = false\n', "this is = no toml = at all\n"]
)
async def test_trust_never_overrules_or_breaks_a_policy(
    api: httpx.AsyncClient, platform: Platform, text: str
) -> None:
    policy = platform.settings.policy_file
    policy.write_text(text)
    assert (await api.post("/v1/tools/log_to_obsidian/trust")).status_code == 409
    assert policy.read_text() == text


async def test_two_people_who_trust_at_once_both_stay_written(
    api: httpx.AsyncClient, platform: Platform
) -> None:
    names = ("log_to_obsidian", "save_fact", "read_file")
    await asyncio.gather(*(api.post(f"/v1/tools/{name}/trust") for name in names))
    written = platform.settings.policy_file.read_text()
    assert all(f'tool = "{name}"\ntrust = true' in written for name in names)


async def test_samples_are_for_an_empty_workspace_only(api: httpx.AsyncClient) -> None:
    added = (await api.post("/v1/samples")).json()
    assert (added["tasks"], added["documents"] > 10) == (4, True)
    query = {"arguments": {"query": "which calls wait for a person's approval"}}
    found = (await api.post("/v1/tools/query_knowledge_base/call", json=query)).json()
    assert found["data"]["results"][0]["metadata"]["collection"] == "steward-docs"
    assert (await api.post("/v1/samples")).status_code == 409


async def test_an_opened_platform_has_no_samples(api: httpx.AsyncClient) -> None:
    assert (await api.get("/v1/tasks")).json()["items"] == []
    assert (await api.get("/v1/knowledge/collections")).json()["items"] == []


def test_the_documentation_is_packaged(request: pytest.FixtureRequest) -> None:
    text = (Path(request.config.rootpath) / "pyproject.toml").read_text()
    assert '"docs" = "steward/bootstrap/docs"' in text


def test_the_first_page_that_is_read_answers_the_question_that_is_offered() -> None:
    first, *others = documentation()
    assert (first.name, others) == ("web.md", sorted(others))
    assert "documents that you drop in are kept in" in " ".join(first.read_text().lower().split())
