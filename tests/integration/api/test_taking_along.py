"""Export and import over HTTP and at the command line: who may, and for whom."""

import json
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from tests.integration.api.conftest import Connect
from typer.testing import CliRunner, Result

from steward.surfaces.cli.app import app

ZIP = {"Content-Type": "application/zip"}


async def test_data_goes_out_for_its_owner_and_comes_in_for_another(
    api: httpx.AsyncClient, connect: Connect
) -> None:
    await api.post("/v1/tasks", json={"title": "buy milk"})
    await api.post("/v1/users", json={"id": "ana"})
    exported = await api.get("/v1/export?library=false")
    assert (exported.status_code, exported.headers["content-type"]) == (200, "application/zip")
    assert "steward-local.zip" in exported.headers["content-disposition"]
    erased = await api.delete("/v1/users/local?confirm=local")
    assert erased.status_code == 200
    imported = await api.post("/v1/import?user=ana", content=exported.content, headers=ZIP)
    assert (imported.json()["user"], imported.json()["added"]["tasks"]) == ("ana", 1)

    key = (await api.post("/v1/keys", json={"name": "anas", "role": "use", "user": "ana"})).json()["token"]
    ana = connect(key=key)
    assert [task["title"] for task in (await ana.get("/v1/tasks")).json()["items"]] == ["buy milk"]
    assert (await ana.get("/v1/export?user=ana")).status_code == 200
    assert (await ana.get("/v1/export?user=local")).status_code == 403
    assert (await ana.post("/v1/import", content=b"", headers=ZIP)).status_code == 403
    assert (await api.get("/v1/export?user=nobody")).status_code == 404


@pytest.mark.parametrize("body", [b"", b"PK", b"x" * (9 * 2**20)])
async def test_what_is_no_export_is_refused_by_its_code_whatever_its_size(
    api: httpx.AsyncClient, body: bytes
) -> None:
    answer = await api.post("/v1/import", content=body, headers=ZIP)
    assert (answer.status_code, answer.json()["code"]) == (400, "ARCHIVE_INVALID")


@pytest.fixture
def run(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEWARD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "none")
    return lambda *arguments: CliRunner().invoke(app, list(arguments))


def test_export_and_import_at_the_command_line(run: Callable[..., Result], tmp_path: Path) -> None:
    assert run("tasks", "add", "buy milk", "--json").exit_code == 0
    exported = run("export", "mine.zip", "--json")
    assert (exported.exit_code, json.loads(exported.stdout)["file"]) == (0, "mine.zip")
    assert (tmp_path / "mine.zip").stat().st_mode & 0o777 == 0o600
    assert run("users", "add", "ana").exit_code == 0
    again = run("import", "mine.zip", "--json")
    assert (json.loads(again.stdout)["added"]["tasks"], json.loads(again.stdout)["present"]["tasks"]) == (
        0,
        1,
    )
    other = run("import", "mine.zip", "--user", "ana")
    assert (other.exit_code, "Imported" in other.stdout) == (0, True)
    missing = run("import", "nothing.zip", "--json")
    assert (missing.exit_code, json.loads(missing.stdout)["error_code"]) == (2, "INVALID_INPUT")
    broken = tmp_path / "broken.zip"
    broken.write_text("x")
    refused = run("import", "broken.zip", "--json")
    assert (refused.exit_code, json.loads(refused.stdout)["error_code"]) == (2, "ARCHIVE_INVALID")
