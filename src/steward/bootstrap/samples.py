"""Something to try on a workspace that is still empty: a few tasks, and Steward's own documentation.

Owns what the samples are and when they may be added: never beside a person's own data.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from steward.bootstrap.platform import Platform
from steward.bootstrap.tools.core_tools import LOCAL_USER
from steward.contract.call import Caller, CallerKind, Done, ToolCall
from steward.contract.errors import ConflictError

COLLECTION = "steward-docs"
FIRST = "web.md"  # answers the question that the page offers, which may be asked before all pages are read
CALLER = Caller(CallerKind.PERSON, "samples")
# In the wheel the documentation lies beside this module; in a clone it is the folder everybody reads.
PACKAGED = Path(__file__).parent / "docs"
IN_CLONE = Path(__file__).parents[3] / "docs"

TASKS: tuple[dict[str, str], ...] = (
    {"title": "Tick this task off", "due_date": "today", "priority": "high"},
    {
        "title": "Ask Steward what is due this week",
        "due_date": "tomorrow",
        "description": "On the page under Chat, or with: steward ask 'what is due this week?'",
    },
    {
        "title": "Drop a document of your own on the Documents page",
        "description": "PDF, Word, HTML, Markdown, CSV and code are read; then search for what it says.",
    },
    {"title": "Water the plants", "due_date": "next saturday 10am", "recurrence": "FREQ=WEEKLY;BYDAY=SA"},
)


@dataclass(frozen=True, slots=True)
class Samples:
    tasks: int
    documents: int


async def add_samples(platform: Platform) -> Samples:
    """Raise ConflictError, and add nothing, where a person already has tasks or collections."""
    if await _has_data(platform):
        raise ConflictError(
            "This workspace has data already.", fix="Samples are only for an empty one: use another home."
        )
    added = 0
    for task in TASKS:
        call = ToolCall(tool="add_task", arguments=task, caller=CALLER, user=LOCAL_USER)
        added += isinstance(await platform.orchestrator.execute(call), Done)
    pages = documentation()
    if pages:
        await platform.library.base.create_collection(COLLECTION)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        title = text.partition("\n")[0].removeprefix("#").strip()
        await platform.library.base.augment(
            text, source=f"docs/{page.name}", collection=COLLECTION, title=title
        )
    return Samples(tasks=added, documents=len(pages))


def documentation() -> Sequence[Path]:
    """The pages a reader starts with; decisions and generated references would drown them."""
    folder = PACKAGED if PACKAGED.is_dir() else IN_CLONE
    pages = (page for page in folder.glob("*.md") if page.stat().st_size)
    return sorted(pages, key=lambda page: (page.name != FIRST, page.name))


async def _has_data(platform: Platform) -> bool:
    call = ToolCall(tool="list_tasks", arguments={"limit": 1}, caller=CALLER, user=LOCAL_USER)
    listed = await platform.orchestrator.execute(call)
    tasks = listed.data["tasks"] if isinstance(listed, Done) else ()
    return bool(tasks) or bool(await platform.library.base.collections())
