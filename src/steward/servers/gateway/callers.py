"""Whose request it is: what its key or its pipe says of whoever sent it."""

from typing import NamedTuple

from steward.contract.call import Caller, CallerKind
from steward.contract.deciding import client_name
from steward.contract.trace_context import TRACEPARENT, TraceContext, trace_of
from steward.policy.access import LOCAL_USER
from steward.servers.gateway.link import Context
from steward.servers.gateway.ports import Member


class SessionKey(NamedTuple):
    """A session and whose it is: an id alone, which anybody may send, opens nobody else's."""

    holder: str
    session: str  # empty: the protocol knows none, and the client names none


def session_key(context: Context) -> SessionKey:
    """The HTTP session that a request belongs to; a pipe carries only one."""
    request = context.request
    session = "pipe" if request is None else request.headers.get("mcp-session-id", "")
    return SessionKey(holder_of(context), session)


def holder(name: str, user: str | None) -> str:
    """A key's name with its user: the same name, given to somebody else later, is another holder."""
    return f"{name} of {user or LOCAL_USER}"


def holder_of(context: Context) -> str:
    return holder(principal(context), user_of(context))


def session_of(session: str, key: str) -> str:
    """What a client's calls belong together by: its session, or its key where the protocol knows none."""
    return f"session {session}" if session else f"key {key}"


def member_of(context: Context) -> Member | None:
    return None if context.request is None else context.request.scope.get("steward.member")


def user_of(context: Context) -> str | None:
    """For whom a client's calls act; None where the call itself may say: on a pipe, and at this machine."""
    member = member_of(context)
    return None if member is None else member.user


def owner_of(context: Context) -> str:
    return user_of(context) or LOCAL_USER


def principal(context: Context) -> str:
    member = member_of(context)
    if member is not None:
        return member.id
    params = context.session.client_params
    return "mcp-client" if params is None else params.client_info.name[:64]


def caller_of(context: Context) -> Caller:
    return Caller(CallerKind.CLIENT, principal(context))


def trace_in(context: Context) -> TraceContext | None:
    """The trace that a request belongs to: as MCP says it, else as its HTTP request does."""
    said = (context.meta or {}).get(TRACEPARENT)
    request = context.request
    return trace_of(said) or trace_of(None if request is None else request.headers.get(TRACEPARENT))


def program_of(context: Context) -> str:
    """What the program calls itself; a claim, kept for the receipt."""
    params = context.session.client_params
    return client_name(None if params is None else params.client_info.name)
