"""Named SQL: `queries/<domain>.sql` holds blocks that start with `-- name: <query>`.

SQL = load("proposals")
await database.fetchrow(SQL.get_proposal, proposal_id)
"""

from functools import lru_cache
from pathlib import Path

from steward.contract import linear_re as re

FOLDER = Path(__file__).parents[1] / "queries"
_NAME = re.compile(r"^-- name: ?(.*)$", re.MULTILINE)
_CHANGE = re.compile(r"\b(INSERT|UPDATE|DELETE|COPY|ALTER|CREATE|DROP)\b", re.IGNORECASE)


class NamedQueries:
    """The queries of one file as attributes; an unknown name says which ones there are."""

    def __init__(self, domain: str, text: str) -> None:
        self._domain = domain
        head, *blocks = _NAME.split(text)
        if re.sub(r"--.*", "", head).strip():
            raise ValueError(f"{domain}.sql has SQL before its first '-- name:' line")
        for name, body in zip(blocks[::2], blocks[1::2], strict=True):
            if not name.strip().isidentifier() or name.strip() in self.__dict__ or not body.strip():
                raise ValueError(f"{domain}.sql: '{name.strip()}' is empty, repeated or not a name")
            self.__dict__[name.strip()] = body.strip().removesuffix(";")

    def __getattr__(self, name: str) -> str:
        raise AttributeError(f"{self._domain}.sql has no query '{name}'; it has {', '.join(self.names())}")

    def names(self) -> list[str]:
        return [name for name in self.__dict__ if not name.startswith("_")]


def load(domain: str) -> NamedQueries:
    return NamedQueries(domain, (FOLDER / f"{domain}.sql").read_text(encoding="utf-8"))


@lru_cache(maxsize=1024)
def changes(query: str) -> bool:
    """Whether a statement may change something when it is asked on its own."""
    return _CHANGE.search(query) is not None
