"""On whose behalf an agent runs: what every call of a run has in common. Holds no state between runs."""

from dataclasses import dataclass, field

from steward.contract.call import Channel, new_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The dependencies of a run. The user comes from the surface that took the turn, never from a model."""

    agent: str
    user: str | None = None
    utterance: str | None = None  # what the person said this turn
    correlation_id: str = field(default_factory=new_id)
    channel: Channel | None = field(default=None, compare=False, repr=False)
