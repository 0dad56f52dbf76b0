"""Documents on their way into a collection: one after the other, each with how far it is.

Runs beside the page (work.py) and knows the HTTP API only.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from steward.contract.errors import StewardError
from steward.surfaces.web.client import Api, Event
from steward.surfaces.web.work import Job


def ingest(
    client: Api, job: Job, collection: str, *, files: Sequence[tuple[str, bytes]], new: bool
) -> list[str]:
    """What could not be read, each with its reason. Raise where there is no collection to put them in."""
    if new:
        made = client.call("manage_collections", action="create", collection_name=collection)
        if not made["success"]:
            raise StewardError(made["error"])
    failed: list[str] = []
    for number, (name, content) in enumerate(files):
        path = f"/v1/knowledge/collections/{quote(collection)}/files/{quote(name)}"
        part = _Part(job=job, name=name, number=number, of=len(files))
        if problem := part.read(client.put_file(path, content)):
            failed.append(f"{name}: {problem}")
    return failed


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """One document of several."""

    job: Job
    name: str
    number: int
    of: int

    def read(self, events: Iterable[Event]) -> str | None:
        """Follow it to its end; what went wrong, in words."""
        self._tell(0, None)
        try:
            for name, data in events:
                if name == "result":
                    waits = "it waits for a yes under Approvals"
                    return None if data["success"] else data["error"] or waits
                self._tell(data["done"], data["total"])
        except StewardError as error:
            return error.explain()
        return "Steward stopped before it was read"

    def _tell(self, done: float, total: float | None) -> None:
        self.job.share = (self.number + (done / total if total else 0)) / self.of
        passages = f": {done:.0f} of {total:.0f} passages" if total else ""
        self.job.notes.append(f"Reading {self.name} ({self.number + 1} of {self.of}){passages}")
