"""Each row of the library's five contracts on its own, over MCP: what a parameter is for, and it counts."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from mcp.shared.exceptions import MCPError
from tests.support.library import open_base

from steward.servers.knowledge import build
from steward.storage.database.postgres import Database


class Library:
    """The five tools as a client has them; `refused` is a JSON-RPC error's number."""

    def __init__(self, client: Client[Any], folder: Path) -> None:
        self._client = client
        self.folder = folder

    async def answer(self, tool: str, **arguments: Any) -> Any:
        return await self._client.call_tool(tool, arguments)

    async def __call__(self, tool: str, **arguments: Any) -> Any:
        return (await self.answer(tool, **arguments)).structured_content

    async def refused(self, tool: str, **arguments: Any) -> int:
        with pytest.raises(MCPError) as caught:
            await self._client.call_tool(tool, arguments)
        return caught.value.error.code

    async def collection(self, name: str, *texts: str, **more: Any) -> None:
        await self("manage_collections", action="create", collection_name=name, **more)
        for number, text in enumerate(texts):
            await self("augment_knowledge", content=text, source=f"{name} {number}", collection=name)

    async def found(self, query: str, **more: Any) -> list[Any]:
        return (await self("query_knowledge_base", query=query, **more))["results"]

    async def named(self) -> dict[str, Any]:
        listed = await self("manage_collections", action="list")
        return {each["name"]: each for each in listed["collections"]}


@pytest.fixture
async def library(database: Database, tea_and_bread: Path) -> AsyncIterator[Library]:
    inside = tea_and_bread / "deep"
    inside.mkdir()
    (inside / "soup.md").write_text("# Soup\n\nSalt the soup at the end.\n")
    async with open_base(database, [tea_and_bread]) as base, Client(build(base)) as client:
        yield Library(client, tea_and_bread)


def collections_of(hits: list[Any]) -> set[str]:
    return {hit["metadata"]["collection"] for hit in hits}


# --- query_knowledge_base ---


@pytest.mark.req("KB-4.1-query")
async def test_a_query_is_required_and_is_what_is_found(library: Library) -> None:
    await library.collection("papers", "Bake the loaf at 230 degrees.", "A kettle whistles when it boils.")
    assert await library.refused("query_knowledge_base") == -32602
    assert await library.refused("query_knowledge_base", query=3) == -32602
    [first, *_] = await library.found("how hot to bake a loaf")
    assert first["content"] == "Bake the loaf at 230 degrees."


@pytest.mark.req("KB-4.1-collections")
async def test_names_of_collections_are_separated_by_commas_and_all_are_searched_without(
    library: Library,
) -> None:
    for name in ("one", "two", "three"):
        await library.collection(name, f"The spare key of house {name} is under the mat.")
    asked = "where is the spare key"
    assert collections_of(await library.found(asked, collections="one, two")) == {"one", "two"}
    assert collections_of(await library.found(asked, collections=None)) == {"one", "two", "three"}


@pytest.mark.req("KB-4.1-top_k")
async def test_ten_results_come_unless_another_number_is_asked_for(library: Library) -> None:
    places = ["garden", "forest", "harbour", "school", "market", "station", "castle", "island", "meadow"]
    places += ["valley", "bridge", "tower"]
    await library.collection("papers", *(f"The red bicycle stands near the {place}." for place in places))
    asked = "where does the red bicycle stand"
    counts = [len(await library.found(asked, **more)) for more in ({}, {"top_k": 2}, {"top_k": 11})]
    assert counts == [10, 2, 11]
    assert await library.refused("query_knowledge_base", query=asked, top_k=0) == -32004


@pytest.mark.req("KB-4.1-document_context")
async def test_the_document_at_hand_sharpens_what_is_found(library: Library) -> None:
    snake, code = (
        "Python is a snake that squeezes its prey.",
        "Python is a language with a large library.",
    )
    await library.collection("papers", snake, code)
    contexts = (
        "Reptiles in the zoo: how snakes hunt, eat and digest animals.",
        "How to write software: programming languages, compilers, source code and libraries.",
    )
    first = [(await library.found("python", document_context=each))[0]["content"] for each in contexts]
    assert first == [snake, code]


# --- manage_collections ---


@pytest.mark.req("KB-4.2-action")
async def test_the_four_actions_on_collections_and_no_other(library: Library) -> None:
    await library("manage_collections", action="create", collection_name="papers")
    told = await library("manage_collections", action="info", collection_name="papers")
    listed = set(await library.named())
    await library("manage_collections", action="delete", collection_name="papers")
    assert (told["collection"]["name"], listed, await library.named()) == ("papers", {"papers"}, {})
    assert await library.refused("manage_collections", action="rename", collection_name="papers") == -32602
    assert await library.refused("manage_collections") == -32602


@pytest.mark.req("KB-4.2-collection_name")
@pytest.mark.parametrize("action", ["create", "delete", "info"])
async def test_an_action_on_one_collection_needs_its_name(library: Library, action: str) -> None:
    assert await library.refused("manage_collections", action=action) == -32002
    assert await library.named() == {}


@pytest.mark.req("KB-4.2-collection_type")
async def test_a_collection_is_fundamental_or_of_a_project_and_nothing_else(library: Library) -> None:
    for kind in ("fundamental", "project-specific"):
        await library.collection(kind, collection_type=kind)
    asked = {"action": "create", "collection_name": "odd", "collection_type": "odd"}
    assert await library.refused("manage_collections", **asked) == -32002
    assert {name: each["type"] for name, each in (await library.named()).items()} == {
        "fundamental": "fundamental",
        "project-specific": "project-specific",
    }


@pytest.mark.req("KB-4.2-project_name")
async def test_a_new_collection_is_linked_to_the_project_that_is_named(library: Library) -> None:
    await library("manage_projects", action="create", project_name="kitchen")
    await library.collection("papers", project_name="kitchen")
    await library.collection("alone")
    assert {name: each["projects"] for name, each in (await library.named()).items()} == {
        "papers": ["kitchen"],
        "alone": [],
    }


# --- ingest_documents ---


@pytest.mark.req("KB-4.3-path")
async def test_a_file_or_a_folder_is_taken_in(library: Library) -> None:
    await library.collection("papers")
    one = await library("ingest_documents", path=str(library.folder / "tea.md"), collection="papers")
    both = await library("ingest_documents", path=str(library.folder), collection="papers")
    assert (one["added"], both["added"], both["unchanged"]) == (1, 1, 1)
    assert await library.refused("ingest_documents", collection="papers") == -32602


@pytest.mark.req("KB-4.3-collection")
async def test_documents_go_where_they_are_told_to(library: Library) -> None:
    for name in ("papers", "other"):
        await library.collection(name)
    file = str(library.folder / "tea.md")
    await library("ingest_documents", path=file, collection="other")
    assert {name: each["documents"] for name, each in (await library.named()).items()} == {
        "papers": 0,
        "other": 1,
    }
    assert await library.refused("ingest_documents", path=file) == -32602
    assert await library.refused("ingest_documents", path=file, collection="nope") == -32002


@pytest.mark.req("KB-4.3-recursive")
async def test_folders_in_a_folder_are_taken_in_only_when_that_is_said(library: Library) -> None:
    await library.collection("papers")
    shallow = await library("ingest_documents", path=str(library.folder), collection="papers")
    deep = await library("ingest_documents", path=str(library.folder), collection="papers", recursive=True)
    assert (shallow["added"], deep["added"]) == (2, 1)


# --- manage_projects ---


@pytest.mark.req("KB-4.4-action", "KB-4.4-create", "KB-4.4-link", "KB-4.4-unlink", "KB-4.4-set-defaults")
async def test_a_project_is_made_filled_emptied_and_searches_its_defaults(library: Library) -> None:
    for name in ("papers", "web"):
        await library.collection(name, f"The {name} say: bake the loaf at 230 degrees.")

    async def change(action: str, collections: str | None = None) -> Any:
        told = await library(
            "manage_projects", action=action, project_name="kitchen", collections=collections
        )
        return told["project"]

    async def searched() -> set[str]:
        return collections_of(await library.found("how hot is the loaf baked", project_name="kitchen"))

    assert await change("create") == {"name": "kitchen", "collections": [], "default_collections": []}
    assert set((await change("link", "papers, web"))["collections"]) == {"papers", "web"}
    assert await searched() == {"papers", "web"}
    assert (await change("set-defaults", "web"))["default_collections"] == ["web"]
    assert await searched() == {"web"}
    assert await change("unlink", "web") == {
        "name": "kitchen",
        "collections": ["papers"],
        "default_collections": [],
    }
    assert await searched() == {"papers"}
    assert await library.refused("manage_projects", action="erase", project_name="kitchen") == -32602


@pytest.mark.req("KB-4.4-project_name", "KB-4.4-collections")
@pytest.mark.parametrize("action", ["link", "unlink", "set-defaults"])
async def test_an_action_on_a_project_needs_the_project_and_its_collections(
    library: Library, action: str
) -> None:
    await library.collection("papers")
    await library("manage_projects", action="create", project_name="kitchen")
    assert await library.refused("manage_projects", action=action, collections="papers") == -32002
    assert await library.refused("manage_projects", action=action, project_name="kitchen") == -32002
    unknown = {"action": action, "project_name": "nope", "collections": "papers"}
    assert await library.refused("manage_projects", **unknown) == -32002


# --- augment_knowledge ---

KEPT = {
    "content": "# Bees\n\nA swarm leaves in May.",
    "source": "https://bees.example",
    "collection": "papers",
}


@pytest.mark.req("KB-4.5-content", "KB-4.5-source", "KB-4.5-collection", "KB-4.5-title")
async def test_research_is_found_again_with_its_source_and_title(library: Library) -> None:
    for name in ("papers", "other"):
        await library.collection(name)
    await library("augment_knowledge", **KEPT, title="The swarm")
    [hit] = await library.found("when does a swarm leave")
    told = (hit["source_document"], hit["metadata"]["document_title"], hit["metadata"]["collection"])
    assert ("A swarm leaves in May." in hit["content"], told) == (
        True,
        ("https://bees.example", "The swarm", "papers"),
    )
    await library("augment_knowledge", **KEPT | {"content": "A swarm leaves in June."})  # the same source
    assert [hit["content"] for hit in await library.found("when does a swarm leave")] == [
        "A swarm leaves in June."
    ]


@pytest.mark.req("KB-4.5-content", "KB-4.5-source", "KB-4.5-collection")
@pytest.mark.parametrize("left_out", ["content", "source", "collection"])
async def test_research_needs_its_text_its_source_and_its_collection(library: Library, left_out: str) -> None:
    await library.collection("papers")
    rest = {name: value for name, value in KEPT.items() if name != left_out}
    assert await library.refused("augment_knowledge", **rest) == -32602
    assert (await library.named())["papers"]["documents"] == 0


# --- what all of them have in common ---


@pytest.mark.req("KB-6.2-markdown", "KB-6.1-structured", "KB-6.2-metadata")
async def test_every_answer_is_markdown_beside_its_data(library: Library) -> None:
    made = {"action": "create", "collection_name": "papers"}
    steps: list[tuple[str, dict[str, Any]]] = [
        ("manage_collections", made),
        ("manage_collections", {"action": "list"}),
        ("manage_collections", {"action": "info", "collection_name": "papers"}),
        ("ingest_documents", {"path": str(library.folder), "collection": "papers"}),
        ("augment_knowledge", KEPT),
        ("manage_projects", {"action": "create", "project_name": "kitchen", "collections": "papers"}),
        ("query_knowledge_base", {"query": "how is tea brewed"}),
        ("manage_collections", {"action": "delete", "collection_name": "papers"}),
    ]
    for tool, arguments in steps:
        answer = await library.answer(tool, **arguments)
        text = answer.content[0].text
        assert any(mark in text for mark in ("**", "## ", "| ", "- ")), (tool, text)
        assert answer.structured_content["status"] == "success"
