"""A rule that allows and leaves everything as it is: what a real one does not care about."""

from collections.abc import Mapping
from typing import Any

from steward.agents.profile import Draft, Refusal
from steward.agents.session import AgentSession
from steward.agents.turn.ledger import Ledger
from steward.contract.tool import ToolSpec


class Lenient:
    def admit(
        self,
        spec: ToolSpec,  # noqa: ARG002
        arguments: Mapping[str, Any],  # noqa: ARG002
        *,
        ledger: Ledger,  # noqa: ARG002
        session: AgentSession,  # noqa: ARG002
    ) -> Refusal | None:
        return None

    def review(self, draft: Draft, *, ledger: Ledger, session: AgentSession) -> Draft:  # noqa: ARG002
        return draft

    def confirm(self, spec: ToolSpec, arguments: Mapping[str, Any], *, ledger: Ledger) -> str | None:  # noqa: ARG002
        return None
