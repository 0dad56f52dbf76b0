"""Skills over the API and at the command line: those that work, and those with mistakes."""

import json
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from steward.bootstrap import Platform
from steward.surfaces.cli.app import app

GOOD = """---
name: tea-time
description: Make tea for guests.
allowed-tools: [code_execution, boil_water]
examples: [Make some tea]
run: echo {kind}
parameters:
  kind: Which tea
---
Boil the water first.
"""


def write(home: Path) -> None:
    for name, text in (("tea-time", GOOD), ("nameless", "---\nname: nameless\n---\nNo description.\n")):
        (home / "skills" / name).mkdir(parents=True)
        (home / "skills" / name / "SKILL.md").write_text(text)


async def test_skills_are_listed_with_their_tools_and_place_and_what_is_wrong_with_them(
    platform: Platform, api: httpx.AsyncClient, tmp_path: Path
) -> None:
    write(tmp_path / "home")
    items = {item["name"]: item for item in (await api.get("/v1/skills")).json()["items"]}
    folder = tmp_path / "home" / "skills"
    assert items["tea-time"] == {
        "name": "tea-time",
        "description": "Make tea for guests.",
        "allowed_tools": ["code_execution", "boil_water"],
        "unknown_tools": ["boil_water"],
        "folder": str(folder / "tea-time"),
        "shipped": False,
        "problem": None,
    }
    assert (items["nameless"]["folder"], "description" in items["nameless"]["problem"]) == (
        str(folder / "nameless"),
        True,
    )
    assert (items["csv-summary"]["shipped"], items["csv-summary"]["problem"]) == (True, None)


async def test_one_skill_is_shown_with_its_instructions(
    platform: Platform, api: httpx.AsyncClient, tmp_path: Path
) -> None:
    write(tmp_path / "home")
    shown, none = (await api.get("/v1/skills/tea-time")).json(), await api.get("/v1/skills/coffee")
    assert (shown["instructions"], shown["run"], list(shown["parameters"]["properties"])) == (
        "Boil the water first.",
        "echo {kind}",
        ["kind"],
    )
    assert (none.status_code, none.json()["code"]) == (404, "NOT_FOUND")


def test_the_commands_show_the_same(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEWARD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "none")
    write(tmp_path / "home")
    runs = [
        CliRunner().invoke(app, ["skills", *words])
        for words in (["list"], ["list", "--json"], ["show", "tea-time"], ["show", "tea-time", "--json"])
    ]
    listed, data, shown, whole = (run.stdout for run in runs)
    assert [run.exit_code for run in runs] == [0, 0, 0, 0]
    rows = {line.split("\t")[0]: line.split("\t")[1:] for line in listed.splitlines()}
    assert rows["tea-time"][:2] == ["Make tea for guests.", "code_execution, boil_water (unknown)"]
    assert rows["nameless"][0].startswith("cannot be used: A skill needs a description.")
    assert rows["csv-summary"][2] == "comes with Steward"
    assert ("Boil the water first." in shown, "Runs: echo {kind}" in shown) == (True, True)
    assert json.loads(whole)["name"] in [item["name"] for item in json.loads(data)["items"]]
