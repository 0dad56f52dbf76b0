"""Lists in pages: every list of the API has the same two parameters and the same shape."""

from typing import Any

import httpx
import pytest

from steward.bootstrap import Platform


async def walked(api: httpx.AsyncClient, path: str, *, limit: int = 2) -> list[list[dict[str, Any]]]:
    """All pages of a list, following `next` as a client does."""
    pages: list[list[dict[str, Any]]] = []
    after: str | None = None
    while True:
        query = {"limit": limit} | ({} if after is None else {"after": after})
        answer = await api.get(path, params=query)
        assert answer.status_code == 200, answer.text
        pages.append(answer.json()["items"])
        after = answer.json()["next"]
        if after is None:
            return pages


async def test_every_list_is_items_and_next_with_limit_and_after(api: httpx.AsyncClient) -> None:
    document = (await api.get("/openapi.json")).json()
    found: dict[str, tuple[set[str], set[str]]] = {}
    for path, operations in document["paths"].items():
        operation = operations.get("get")
        schema = (operation or {}).get("responses", {}).get("200", {}).get("content", {})
        name = schema.get("application/json", {}).get("schema", {}).get("$ref", "").rpartition("/")[2]
        properties = set(document["components"]["schemas"].get(name, {}).get("properties", ()))
        if "items" in properties:
            parameters = {item["name"] for item in operation.get("parameters", ())}
            found[path] = (properties & {"items", "next"}, parameters & {"limit", "after"})
    whole = {
        "/v1/tools/search",
        "/v1/tasks/read",
        "/v1/tasks/find",
        "/v1/knowledge/documents",
    }  # answers to a question, best first
    one_thing = {"/v1/traces/{trace_id}", "/v1/tasks/{task_id}/log", "/v1/memory/{memory_id}/history"}
    one_thing |= {"/v1/users/{user_id}/addresses"}  # at most one a medium
    assert {path for path, (shape, _) in found.items() if shape != {"items", "next"}} == set()
    unpaged = {path for path, (_, given) in found.items() if given != {"limit", "after"}}
    assert unpaged - whole - one_thing == set()


async def test_tasks_come_page_by_page(api: httpx.AsyncClient) -> None:
    for number in range(5):
        await api.post("/v1/tasks", json={"title": f"task {number}"})
    pages = await walked(api, "/v1/tasks")
    assert [[task["title"] for task in page] for page in pages] == [
        ["task 0", "task 1"],
        ["task 2", "task 3"],
        ["task 4"],
    ]


async def test_users_keys_agents_and_tools_come_page_by_page(api: httpx.AsyncClient) -> None:
    for name in ("ana", "ben"):
        assert (await api.post("/v1/users", json={"id": name})).status_code == 201
    assert [[user["id"] for user in page] for page in await walked(api, "/v1/users")] == [
        ["ana", "ben"],
        ["local"],
    ]
    for path, key in (("/v1/agents", "id"), ("/v1/tools", "name")):
        whole = [item[key] for item in (await api.get(path)).json()["items"]]
        paged = [item[key] for page in await walked(api, path) for item in page]
        assert (paged, paged) == (whole, sorted(whole))


async def test_documents_and_queries_come_page_by_page(api: httpx.AsyncClient) -> None:
    async def call(tool: str, **arguments: Any) -> None:
        answer = (await api.post(f"/v1/tools/{tool}/call", json={"arguments": arguments})).json()
        assert answer["success"], answer

    await call("manage_collections", action="create", collection_name="notes")
    for name in "abc":
        content = f"Note {name} says that bees dance in the hive."
        await call("augment_knowledge", content=content, source=name, collection="notes")
        await call("query_knowledge_base", query=f"dancing bees {name}")
    documents = await walked(api, "/v1/knowledge/collections/notes/documents")
    assert [[item["source"] for item in page] for page in documents] == [["a", "b"], ["c"]]
    queries = await walked(api, "/v1/knowledge/queries")
    assert [[item["query"][-1] for item in page] for page in queries] == [["c", "b"], ["a"]]
    assert len(await walked(api, "/v1/knowledge/collections", limit=1)) == 1


async def test_questions_come_page_by_page(api: httpx.AsyncClient, platform: Platform) -> None:
    for text in ("Which file?", "Which day?", "Which city?"):
        await platform.questions.ask("local", text)
    pages = await walked(api, "/v1/questions")
    assert [[item["text"] for item in page] for page in pages] == [
        ["Which file?", "Which day?"],
        ["Which city?"],
    ]


@pytest.mark.parametrize("path", ["/v1/tasks?after=-1", "/v1/tasks?after=x", "/v1/knowledge/queries?after=x"])
async def test_a_word_that_no_page_gave_is_refused(api: httpx.AsyncClient, path: str) -> None:
    answer = await api.get(path)
    assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_INPUT")
