"""Ways to make something disappear for good without anybody's yes."""

from pathlib import Path
from typing import Any

import pytest
from tests.attacks.conftest import ADMIN, Victim

pytestmark = pytest.mark.slow


def test_a_use_key_cannot_delete_a_conversation_for_good(victim: Victim) -> None:
    program = victim.acting("use")
    said = program.post("/v1/chat", json={"message": "What time is it?"}).raise_for_status().json()
    path = f"/v1/conversations/{said['conversation']}"
    for _ in range(2):  # a second deletion of what is put away finds nothing to delete
        program.delete(path)
    assert program.get(path).status_code == 404
    restored = victim.acting("approve").post(f"{path}/restore")
    assert restored.status_code == 200
    assert [turn["said"] for turn in program.get(path).json()["turns"]] == ["What time is it?"]


def test_nobody_restores_anothers_conversation(victim: Victim) -> None:
    victim.client(ADMIN).post("/v1/users", json={"id": "eve"})
    person = victim.acting("use")
    said = person.post("/v1/chat", json={"message": "What time is it?"}).raise_for_status().json()
    path = f"/v1/conversations/{said['conversation']}"
    person.delete(path).raise_for_status()
    assert victim.acting("approve", "eve").post(f"{path}/restore").status_code == 404
    assert person.get(path).status_code == 404


def test_one_user_cannot_delete_anothers_conversation(victim: Victim) -> None:
    victim.client(ADMIN).post("/v1/users", json={"id": "eve"})
    said = victim.acting("use").post("/v1/chat", json={"message": "What time is it?"}).json()
    eve = victim.acting("approve", "eve")
    eve.post(
        "/v1/tools/delete_conversation/call", json={"arguments": {"conversation_id": said["conversation"]}}
    )
    assert victim.acting("use").get(f"/v1/conversations/{said['conversation']}").status_code == 200


def library(victim: Victim, name: str) -> Path:
    """A folder of one text, read into a collection of the same name."""
    folder = victim.folder / name
    folder.mkdir()
    (folder / "will.md").write_text("# Will\n\nThe house goes to the lighthouse keeper's daughter.\n")
    made = {"action": "create", "collection_name": name}
    call(victim, "manage_collections", made)
    assert ingest(victim, folder, name)["data"]["added"] == 1
    return folder


def call(victim: Victim, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return victim.acting("use").post(f"/v1/tools/{tool}/call", json={"arguments": arguments}).json()


def ingest(victim: Victim, path: Path, collection: str, **more: Any) -> dict[str, Any]:
    return call(victim, "ingest_documents", {"path": str(path), "collection": collection, **more})


def found(victim: Victim, collection: str) -> bool:
    asked = {"query": "lighthouse keeper's daughter", "collections": collection}
    return "lighthouse" in str(call(victim, "query_knowledge_base", asked))


def test_reading_a_folder_again_removes_no_text_whose_file_is_gone(victim: Victim) -> None:
    folder = library(victim, "gone-from-folder")
    (folder / "will.md").unlink()
    ingest(victim, folder, folder.name)
    assert found(victim, folder.name)


def test_naming_a_file_that_is_gone_removes_no_text(victim: Victim) -> None:
    folder = library(victim, "gone-by-name")
    (folder / "will.md").unlink()
    ingest(victim, folder / "will.md", folder.name)
    assert found(victim, folder.name)


def test_a_file_that_was_emptied_removes_no_text(victim: Victim) -> None:
    folder = library(victim, "emptied")
    (folder / "will.md").write_text("")
    ingest(victim, folder, folder.name)
    assert found(victim, folder.name)


def test_a_broken_upload_under_its_name_takes_no_file_away(victim: Victim) -> None:
    program = victim.acting("use")
    call(victim, "manage_collections", {"action": "create", "collection_name": "uploaded"})
    path = "/v1/knowledge/collections/uploaded/files/will.pdf"
    file = victim.home / "uploads" / "uploaded" / "will.pdf"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"%PDF-1.4 the only copy")  # as it lies there once it was taken in
    answer = program.put(path, content=b"no document at all").json()
    assert (answer["success"], file.read_bytes()) == (False, b"%PDF-1.4 the only copy")


def test_a_list_of_what_to_ignore_removes_no_text(victim: Victim) -> None:
    folder = library(victim, "ignored")
    (folder / ".stewardignore").write_text("*\n")
    ingest(victim, folder, folder.name)
    assert found(victim, folder.name)


def test_asking_for_the_removal_waits_for_a_person(victim: Victim) -> None:
    folder = library(victim, "asked-for")
    (folder / "will.md").unlink()
    answer = ingest(victim, folder, folder.name, remove_missing=True)
    assert answer["status"] == "pending_approval"
    assert found(victim, folder.name)


def test_taking_changes_back_loses_no_task(victim: Victim) -> None:
    program = victim.acting("use")
    made = program.post("/v1/tasks", json={"title": "Visit grandmother"}).json()["data"]["task"]
    undo = program.post("/v1/undo", json={"of": f"tasks:{made['id']}"}).json()["data"]
    program.post("/v1/undo", json={"id": undo["id"]})
    assert program.get(f"/v1/tasks/{made['id']}").json()["title"] == "Visit grandmother"


def test_taking_changes_back_removes_no_task_that_was_worked_on(victim: Victim) -> None:
    program = victim.acting("use")
    made = program.post("/v1/tasks", json={"title": "Keep the receipts"}).json()["data"]["task"]
    added = program.get("/v1/undo", params={"of": f"tasks:{made['id']}"}).json()["items"][0]
    program.patch(f"/v1/tasks/{made['id']}", json={"priority": "high"})
    answer = program.post("/v1/undo", json={"id": added["id"]}).json()
    assert answer["error_code"] == "CANNOT_UNDO"
    assert program.get(f"/v1/tasks/{made['id']}").status_code == 200


@pytest.mark.parametrize("role", ["use", "approve"])
def test_only_an_admin_erases_a_user(victim: Victim, role: str) -> None:
    answer = victim.acting(role).delete("/v1/users/local", params={"confirm": "local"})
    assert answer.status_code == 403


def test_erasing_asks_for_the_name_again(victim: Victim) -> None:
    assert victim.client(ADMIN).delete("/v1/users/local").status_code == 409
