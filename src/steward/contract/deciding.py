"""Who answers a call that waits, as the server that took the answer knows them.

Owns the words: roles, ways and the decider. What a role may decide is the policy's; how somebody came to
have one is the surfaces' and the gateway's.
"""

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from steward.contract.call import Caller
from steward.contract.errors import InputError

LONGEST_CLIENT = 200


class Role(IntEnum):
    """Each role may do what those before it may."""

    READ = 1
    USE = 2
    APPROVE = 3
    ADMIN = 4

    @classmethod
    def parse(cls, word: str) -> "Role":
        try:
            return cls[word.upper()]
        except KeyError:
            known = ", ".join(role.word for role in cls)
            raise InputError(f"There is no role '{word}'.", fix=f"Use one of {known}.") from None

    @property
    def word(self) -> str:
        return self.name.lower()


class Way(StrEnum):
    """How an answer came in. The server's own finding: no client can choose it."""

    CLI = "cli"
    PAGE = "page"
    API = "api"
    CHAT = "chat"  # a turn in words
    ELICITATION = "elicitation"  # a question shown in an MCP client
    CLIENT = "client"  # no person: the client's own agent, where the owner lets it


class Always(StrEnum):
    """How far a decision reaches beyond the call that it is made on."""

    TOOL = "tool"
    ARGUMENTS = "arguments"  # this tool with exactly these


@dataclass(frozen=True, slots=True, kw_only=True)
class Decider:
    """Whoever decides about a proposal. All of it is set by the server; `client` is what a program claims."""

    caller: Caller  # its kind, and the name of its key
    role: Role
    user: str  # whose proposals these may be; an admin's may be anybody's
    way: Way
    client: str = ""  # the program's name for itself: MCP's clientInfo, an HTTP User-Agent, or our surface


def client_name(claimed: str | None) -> str:
    """A program's name for itself as it is kept: one short line."""
    return " ".join("".join(c if c.isprintable() else " " for c in claimed or "").split())[:LONGEST_CLIENT]
