"""What the installed Steward changes in this workspace, before it is started.

Owns the comparison. The changes themselves are migrations, which the first start applies.
"""

from dataclasses import dataclass
from pathlib import Path

from steward.bootstrap.platform import place
from steward.contract import linear_re as re
from steward.contract.release import release
from steward.settings import Settings
from steward.storage.database.migrate import Migration, SchemaState, standing
from steward.storage.database.postgres import Database, Embedded

PACKAGED = Path(__file__).parent / "CHANGELOG.md"
IN_CLONE = Path(__file__).parents[3] / "CHANGELOG.md"
_SECTION = re.compile(r"(?m)^## (\S+)\n")


@dataclass(frozen=True, slots=True)
class Upgrade:
    installed: str
    last: str | None  # the release that changed the database last, where one said so
    new: str  # the changelog since then
    migrations: tuple[Migration, ...]
    breaking: bool  # older Stewards refuse the database afterwards


async def upgrade(settings: Settings) -> Upgrade:
    """Changes nothing. Raises where the database belongs to a newer Steward, or cannot be reached."""
    found = await _standing(settings)
    last = None if found is None else found.release
    log = (PACKAGED if PACKAGED.exists() else IN_CLONE).read_text(encoding="utf-8")
    missing = () if found is None else found.missing
    return Upgrade(
        installed=release(),
        last=last,
        new="" if found is None else since(log, last),
        migrations=missing,
        breaking=found is not None and any(each.major > found.major for each in missing),
    )


async def _standing(settings: Settings) -> SchemaState | None:
    """None: there is no database yet, so nothing can change."""
    chosen = place(settings)
    if isinstance(chosen, Embedded) and not chosen.folder.exists():
        return None
    async with Database(chosen, migrating=False) as database:
        connection = await database.connection()
        try:
            return await standing(connection)
        finally:
            connection.terminate()


def since(log: str, last: str | None) -> str:
    """The sections above that of `last`, which are newer; only the newest where nobody knows the last."""
    begins = [(match[1], match.start()) for match in _SECTION.finditer(log)]
    known = dict(begins)
    if not begins:
        return ""
    second = begins[1][1] if len(begins) > 1 else len(log)
    return log[begins[0][1] : known.get(last or "", second)].strip()
