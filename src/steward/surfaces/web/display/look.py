"""How things are said: times, sizes, states and risks in words. Pure; the templates' filters."""

import json
from datetime import UTC, datetime
from typing import Any

from steward.contract import linear_re as re
from steward.contract.showing import spell_out

RISKS = {
    "reversible": ("reversible", "calm"),
    "reversible_with_delay": ("reversible with delay", "warn"),
    "irreversible": ("irreversible", "bad"),
}
STATES = {
    "done": ("done", "good"),
    "finished": ("approved", "good"),
    "running": ("running", "good"),
    "failed": ("failed", "bad"),
    "interrupted": ("interrupted", "bad"),
    "erased": ("erased", "calm"),
    "unknown": ("outcome unknown", "bad"),
    "pending_approval": ("waits for a yes", "warn"),
    "waiting": ("waits for a yes", "warn"),
    "refused": ("held back by a rule", "calm"),
    "rejected": ("rejected", "calm"),
    "expired": ("expired", "calm"),
    "stopped": ("stopped", "calm"),
}
JOB_STATES = {
    "waiting": ("waiting", "calm"),
    "running": ("running", "good"),
    "done": ("done", "good"),
    "failed": ("given up", "bad"),
    "cancelled": ("cancelled", "calm"),
}
# By what each says of itself, those first that claim to be others as well.
BROWSERS = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS", "Mac"),
    ("Linux", "Linux"),
)
_UPLOADED = re.compile(
    r"^(?:upload:|(?:/|[A-Za-z]:[/\\]).*[/\\]uploads[/\\])[^/\\]+[/\\](?=[^/\\]+$)"
)  # COLLECTION/FILE, by its name or, before instances shared a library, by its path


def ago(moment: datetime | str, now: datetime | None = None) -> str:
    """When something happened, as people say it."""
    at = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    seconds = ((now or datetime.now(UTC)) - at).total_seconds()
    for size, word in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{counted(int(seconds // size), word)} ago"
    return "just now"


def moment(at: datetime | str) -> str:
    """The same to the second, for whoever needs to know."""
    read = datetime.fromisoformat(at) if isinstance(at, str) else at
    return read.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def clock(at: str) -> str:
    """A time to come, by the clock of whoever it is for."""
    return datetime.fromisoformat(at).strftime("%a %d %b %Y, %H:%M")


def job_words(state: str) -> tuple[str, str]:
    return JOB_STATES[state]


def counted(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def milliseconds(value: float) -> str:
    if value >= 1000:
        return f"{value / 1000:.1f} s"
    return f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"


def kilobytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1_000_000 else f"{max(1, round(size / 1000))} kB"


def pretty(value: Any) -> str:
    """Whatever a tool took or gave, every character of it visible."""
    text = value if isinstance(value, str) else json.dumps(
        value, indent=2, ensure_ascii=False, sort_keys=True, default=str
    )  # fmt: skip
    return spell_out(text)


def place(source: str) -> str:
    """Where a document stands, for a reader: one that was uploaded by its name alone."""
    return _UPLOADED.sub("", source)


def risk_words(risk: str | None) -> tuple[str, str]:
    return RISKS.get(risk or "", (risk or "", "calm"))


def ruling_words(ruling: str) -> tuple[str, str]:
    return {"runs": ("runs", "good"), "asks": ("asks", "warn"), "refused": ("refused", "bad")}[ruling]


def state_words(state: str) -> tuple[str, str]:
    return STATES.get(state, (state, "calm"))


def browser_words(agent: str) -> str:
    """Which browser it is, as people call it; what is not known is shown as it names itself."""
    name = next((name for sign, name in BROWSERS if sign in agent), None)
    system = next((name for sign, name in SYSTEMS if sign in agent), None)
    return " on ".join(filter(None, (name, system))) if name else agent


def asker(caller: str) -> str:
    """Who asks, by name: `client:Cursor` is Cursor, `agent:assistant (schedule 4f)` an agent on an errand."""
    kind, _, name = caller.partition(":")
    words = {"person": f"{name} (a person)", "agent": f"The agent {name}", "client": f"{name} (a client)"}
    return spell_out(words.get(kind, caller)).replace("\n", " ")
