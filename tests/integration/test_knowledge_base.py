"""The knowledge base on a real database, with real files, readers and models."""

import asyncio
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.library import open_base
from tests.support.papers import docx_bytes, pdf_bytes

from steward.contract.errors import StewardError
from steward.knowledge.model import Collection, CollectionKind, ContentType, Refinement
from steward.knowledge.service import KnowledgeBase
from steward.storage.database.postgres import Database

BREAD = """# Sourdough

Feed the starter every day with flour and water.

## Baking

Bake the loaf at 230 degrees in an iron pot.

```python
def oven(): return 230
```
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    library = tmp_path / "library"
    (library / "deep" / "node_modules").mkdir(parents=True)
    (library / "bread.md").write_text(BREAD)
    (library / "bees.docx").write_bytes(docx_bytes())
    (library / "deep" / "turbines.pdf").write_bytes(
        pdf_bytes(
            [["Wind Turbines", "A turbine turns wind into power."], ["Gearboxes fail after seven years."]]
        )
    )
    (library / "deep" / "node_modules" / "junk.md").write_text("# Junk\n\nNever read.")
    (library / "photo.jpg").write_bytes(b"\xff\xd8")
    return library


@pytest.fixture
async def base(database: Database, folder: Path) -> AsyncIterator[KnowledgeBase]:
    async with open_base(database, [folder]) as base:
        await base.create_collection("papers")
        yield base


@pytest.mark.req("KB-4.1", "KB-4.3")
async def test_a_question_finds_the_passage_and_says_where_it_stands(
    base: KnowledgeBase, folder: Path
) -> None:
    report = await base.ingest(folder, "papers", recursive=True)
    assert (report.added, report.failed, dict(report.skipped)) == (3, {}, {".jpg": 1})
    oven = (await base.query("how hot must the oven be for bread")).hits[0]
    assert oven.citation.header_path == "Sourdough > Baking"
    assert oven.citation.document == str(folder / "bread.md")
    assert BREAD[oven.citation.start : oven.citation.end] == oven.text
    gear = (await base.query("why do gearboxes break")).hits[0]
    assert (gear.citation.page, gear.citation.title) == (2, "Wind Turbines")
    swarm = (await base.query("when does a swarm leave", top_k=1)).hits[0]
    assert (swarm.citation.header_path, swarm.kind, swarm.label) == (
        "Swarms",
        ContentType.PROSE,
        swarm.label,
    )
    assert 0.4 < swarm.relevance <= 1


async def test_without_the_cross_encoder_search_still_works(database: Database, folder: Path) -> None:
    async with open_base(database, [folder], reading=False) as base:
        await base.create_collection("papers")
        await base.ingest(folder, "papers")
        assert "230" in (await base.query("temperature for baking bread")).hits[0].text


async def test_again_touches_only_what_changed(base: KnowledgeBase, folder: Path) -> None:
    await base.ingest(folder, "papers", recursive=True)
    again = await base.ingest(folder, "papers", recursive=True)
    assert (again.added, again.updated, again.unchanged, again.removed) == (0, 0, 3, 0)
    (folder / "bread.md").write_text("# Sourdough\n\nBake the loaf at 250 degrees.")
    (folder / "bees.docx").unlink()
    (folder / "new.txt").write_text("Honey keeps for centuries.")
    changed = await base.ingest(folder, "papers", recursive=True)
    assert (changed.added, changed.updated, changed.unchanged, changed.missing) == (1, 1, 1, 1)
    assert (changed.removed, len(await base.documents("papers"))) == (0, 4)
    cleared = await base.ingest(folder, "papers", recursive=True, remove_missing=True)
    assert (cleared.unchanged, cleared.missing, cleared.removed) == (3, 0, 1)
    assert "250" in (await base.query("how hot must the oven be")).hits[0].text
    assert all("230" not in hit.text for hit in (await base.query("how hot must the oven be")).hits)
    sources = {document.source for document in await base.documents("papers")}
    assert sources == {str(folder / name) for name in ("bread.md", "new.txt", "deep/turbines.pdf")}


async def test_two_ingests_of_one_folder_at_once_end_like_one(base: KnowledgeBase, folder: Path) -> None:
    reports = await asyncio.gather(*(base.ingest(folder, "papers", recursive=True) for _ in range(3)))
    assert sum(report.added + report.updated for report in reports) == 3
    collection = await base.collection("papers")
    assert (collection.documents, collection.chunks) == (3, sum(report.chunks for report in reports))


@pytest.mark.req("KB-4.1-refinement")
async def test_nothing_relevant_is_said_plainly(base: KnowledgeBase, folder: Path) -> None:
    await base.ingest(folder, "papers", recursive=True)
    answer = await base.query("lattice quantum chromodynamics on the moon")
    assert answer.hits == []
    assert answer.refinement.status is Refinement.CLARIFY
    assert answer.refinement.suggestions


@pytest.mark.req("KB-4.1-refinement")
async def test_one_word_that_fits_many_documents_is_too_broad(base: KnowledgeBase) -> None:
    for n, place in enumerate(
        ("garden", "forest", "harbour", "school", "market", "station", "castle", "island")
    ):
        await base.augment(
            f"The red bicycle stands near the {place}.", source=f"note {n}", collection="papers"
        )
    answer = await base.query("bicycle")
    assert answer.refinement.status is Refinement.TOO_BROAD
    assert set(answer.refinement.suggestions) & {"red", "stand", "near", "garden", "forest", "station"}


async def test_near_duplicates_are_folded(base: KnowledgeBase) -> None:
    for source in ("first", "second"):
        await base.augment(
            "Green tea is brewed at eighty degrees.", source=source, collection="papers", title="Tea"
        )
    hits = (await base.query("how is green tea brewed")).hits
    assert len(hits) == 1
    assert {hits[0].citation.document, *hits[0].also_in} == {"first", "second"}


async def test_context_sharpens_a_vague_query(base: KnowledgeBase) -> None:
    await base.augment("Python is a snake that squeezes its prey.", source="snakes", collection="papers")
    await base.augment("Python is a language with a large library.", source="code", collection="papers")
    context = "How to write software: programming languages, compilers, source code and libraries."
    assert (await base.query("python", document_context=context)).hits[0].citation.document == "code"
    zoo = "Reptiles in the zoo: how snakes hunt, eat and digest animals."
    assert (await base.query("python", document_context=zoo)).hits[0].citation.document == "snakes"


@pytest.mark.req("KB-4.2", "KB-4.4")
async def test_collections_and_projects_narrow_the_search(base: KnowledgeBase) -> None:
    await base.create_collection("notes", CollectionKind.PROJECT)
    await base.augment("The spare key is at Ana's.", source="a", collection="papers")
    await base.augment("The spare key is under the mat.", source="b", collection="notes")
    await base.create_project("home", ["papers", "notes"])
    await base.set_defaults("home", ["notes"])
    asked = "where is the spare key"
    assert {hit.collection for hit in (await base.query(asked)).hits} == {"papers", "notes"}
    assert {hit.collection for hit in (await base.query(asked, collections=["papers"])).hits} == {"papers"}
    assert {hit.collection for hit in (await base.query(asked, project="home")).hits} == {"notes"}
    project = await base.unlink("home", ["notes"])
    assert (project.collections, project.defaults) == (("papers",), ())
    found = await base.collection("papers")
    assert found == Collection(
        id=found.id,
        name="papers",
        kind=CollectionKind.FUNDAMENTAL,
        created_at=found.created_at,
        documents=1,
        chunks=1,
        size=26,
        projects=("home",),
    )
    await base.delete_collection("notes")
    assert [item.name for item in await base.collections()] == ["papers"]
    assert {hit.collection for hit in (await base.query(asked)).hits} == {"papers"}


@pytest.mark.req("KB-SEC-input")
@pytest.mark.parametrize(
    ("operation", "code"),
    [
        (lambda base, _: base.query("  "), "KB_QUERY"),
        (lambda base, _: base.query("x" * 100_000), "KB_QUERY"),
        (lambda base, _: base.query("a\0b"), "KB_QUERY"),
        (lambda base, _: base.query("x", top_k=0), "KB_QUERY"),
        (lambda base, _: base.query("x", collections=["nope"]), "KB_COLLECTION"),
        (lambda base, _: base.create_collection("papers"), "KB_COLLECTION"),
        (lambda base, _: base.create_collection("../x"), "KB_COLLECTION"),
        (lambda base, _: base.delete_collection("nope"), "KB_COLLECTION"),
        (lambda base, _: base.link("nope", ["papers"]), "KB_COLLECTION"),
        (lambda base, folder: base.ingest(folder / "missing.md", "papers"), "KB_DOCUMENT"),
        (lambda base, folder: base.ingest(folder / "photo.jpg", "papers"), "KB_DOCUMENT"),
        (lambda base, folder: base.ingest(folder.parent, "papers"), "KB_PATH_FORBIDDEN"),
        (lambda base, folder: base.ingest(f"{folder}/../../etc", "papers"), "KB_PATH_FORBIDDEN"),
        (lambda base, folder: base.ingest(folder, "nope"), "KB_COLLECTION"),
        (lambda base, _: base.augment(" ", source="x", collection="papers"), "KB_DOCUMENT"),
        (lambda base, _: base.augment("text", source=" ", collection="papers"), "KB_DOCUMENT"),
        (lambda base, _: base.document(99), "KB_DOCUMENT"),
    ],
)
@pytest.mark.req("KB-5.1", "KB-5.2", "KB-SEC")
async def test_bad_input_is_refused_with_its_code_and_a_fix(
    base: KnowledgeBase, folder: Path, operation: object, code: str
) -> None:
    with pytest.raises(StewardError) as refused:
        await operation(base, folder)  # type: ignore[operator]
    assert refused.value.code == code
    assert refused.value.fix
    assert (await base.collection("papers")).documents == 0


async def test_a_link_out_of_the_allowed_folder_is_not_followed(base: KnowledgeBase, folder: Path) -> None:
    secret = folder.parent / "secret.md"
    secret.write_text("The password is swordfish.")
    (folder / "innocent.md").symlink_to(secret)
    report = await base.ingest(folder, "papers", recursive=True)
    assert report.added == 3
    assert str(folder / "innocent.md") not in {document.source for document in await base.documents("papers")}


async def test_a_huge_file_is_refused_and_the_rest_goes_on(base: KnowledgeBase, folder: Path) -> None:
    with (folder / "huge.txt").open("wb") as file:
        file.truncate(1024**3)
    report = await base.ingest(folder, "papers")
    assert report.added == 2
    assert (report.failures, report.failed[str(folder / "huge.txt")].code) == (1, "KB_TOO_LARGE")


async def test_queries_are_remembered(base: KnowledgeBase, folder: Path) -> None:
    await base.ingest(folder, "papers")
    await base.query("how hot must the oven be", collections=["papers"])
    (past,) = await base.history()
    assert (past.query, past.collections, past.refinement) == (
        "how hot must the oven be",
        ("papers",),
        "optimal",
    )
    assert past.results > 0


async def test_an_ignore_file_keeps_files_out(base: KnowledgeBase, folder: Path) -> None:
    (folder / ".stewardignore").write_text("# mine\ndeep/\n*.docx\n")
    report = await base.ingest(folder, "papers", recursive=True)
    assert report.added == 1


@pytest.mark.req("KB-7.3-memory")
async def test_a_long_document_is_taken_in_within_bounded_memory(base: KnowledgeBase, folder: Path) -> None:
    lines = "".join(f"## Oven {n}\nBread number {n} is baked at {n} degrees.\n\n" for n in range(2_000))
    (folder / "long.md").write_text(lines)
    tracemalloc.start()
    try:
        report = await base.ingest(folder / "long.md", "papers")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (report.added, peak < 64 * 2**20) == (1, True), f"{peak / 2**20:.0f} MiB"


@pytest.mark.req("KB-6.3-query", "KB-7.3-time", "KB-7.3-concurrent", "KB-7.3-large")
@pytest.mark.req("KB-7.3", "KB-6.3")
async def test_many_questions_at_once_and_a_very_long_one_are_answered_in_time(
    base: KnowledgeBase, folder: Path
) -> None:
    await base.ingest(folder, "papers", recursive=True)
    longest = "how hot must the oven be for bread " * 280
    async with asyncio.timeout(30):
        answers = await asyncio.gather(
            *(base.query("how hot must the oven be for bread") for _ in range(15)),
            base.query(longest[:10_000]),
        )
    assert {answer.hits[0].citation.header_path for answer in answers} == {"Sourdough > Baking"}
