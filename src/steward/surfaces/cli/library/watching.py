"""A folder that is followed: what changed in it reaches its collection, and nothing else is looked at.

Owns which paths a round of changes is about. Reading them is the tool's business, as for any other ingest.
"""

import asyncio
import signal
from collections.abc import Iterable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

from steward.contract.errors import InputError
from steward.knowledge.folders import IGNORE_FILE, Folder
from steward.surfaces.cli.calling import LIBRARY, Show, call_tool
from steward.surfaces.cli.client import Api, connect, route
from steward.surfaces.cli.output import say

MOST = 50  # paths that are worth a call each; beyond that the folder is read as a whole
ROUND = 500  # milliseconds after which a round without a change ends
ADDED = 1  # as watchfiles numbers it
Changes = Iterable[tuple[int, str]]


async def watch_folder(path: Path, collection: str, *, show: Show) -> None:
    import watchfiles  # noqa: PLC0415 - only here

    folder = _folder(path)
    stop = asyncio.Event()
    rounds = watchfiles.awatch(  # pyright: ignore[reportUnknownMemberType]
        folder, step=200, rust_timeout=ROUND, yield_on_timeout=True, stop_event=stop
    )
    async with connect(agents=LIBRARY) as api, aclosing(rounds):
        await anext(rounds)  # now the folder is watched: what changes while it is read is noticed
        say(f"Watching {folder} for collection '{collection}'. Ctrl-C ends it.", error=True)
        everything = {"path": str(folder), "collection": collection, "recursive": True}
        if await call_tool(api, "ingest_documents", everything, as_json=False, show=show, doing="Reading"):
            raise InputError(f"'{collection}' cannot be kept up to date.", fix="See the message above.")
        # Asked to stop between two rounds: an ingest under way is finished, not torn.
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        async for changes in rounds:
            for changed in changed_paths(folder, changes) if changes else ():
                await _follow(api, changed, collection, show)


def _folder(path: Path) -> Path:
    folder = path.expanduser().absolute()
    if not folder.is_dir():
        raise InputError(f"{path} is not a folder.", fix="Watch a folder.")
    return folder


def changed_paths(folder: Path, changes: Changes) -> list[Path]:
    """What to read again or to notice as gone; the whole folder where its rules, or very much, changed."""
    from steward.documents.readers import READABLE  # noqa: PLC0415 - only here, and it brings a parser

    rules = Folder.open(
        folder,
        lambda real: real.is_relative_to(folder.resolve()),
        lambda file: file.suffix.lower() in READABLE,
    )
    seen: dict[Path, set[int]] = {}
    for kind, name in changes:
        seen.setdefault(Path(name), set()).add(int(kind))
    concerned = {path for changed, kinds in seen.items() for path in _concerned(rules, changed, kinds)}
    if folder / IGNORE_FILE in seen or len(concerned) > MOST:
        return [folder]
    return sorted(concerned, key=lambda path: (not path.exists(), path))  # what came first: it may have moved


def _concerned(rules: Folder, path: Path, kinds: set[int]) -> Iterator[Path]:
    if path == rules.path or rules.ignores(path):
        return
    if path.is_dir():
        if ADDED in kinds:  # with all its files; otherwise what changes inside comes by itself
            yield from filter(rules.takes, path.rglob("*"))
    elif rules.takes(path) if path.exists() else ADDED not in kinds:  # what came and went was never here
        yield path


async def _follow(api: Api, path: Path, collection: str, show: Show) -> None:
    arguments = {"path": str(path), "collection": collection, "recursive": True}
    if await asyncio.to_thread(path.exists):
        await call_tool(api, "ingest_documents", arguments, as_json=False, show=_changes_only(show))
        return
    # Nothing may ever have been read from it, and then there is nothing to say.
    result = await api.post(route("tools", "ingest_documents", "call"), {"arguments": arguments})
    if result["status"] == "done":
        show(result["data"])


def _changes_only(show: Show) -> Show:
    def shown(data: dict[str, Any]) -> None:
        if any(data[name] for name in ("added", "updated", "missing", "failures")):
            show(data)

    return shown
