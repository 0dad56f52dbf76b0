"""How things look: colours of risk and state, words for times, text that stays text.

Owns nothing but presentation. Whatever comes from others (titles, arguments, results) passes `plain` or
`html.escape` on its way into markup.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any, Literal, NamedTuple

import streamlit as st

from steward.contract import linear_re as re

PICTURES = Path(__file__).parent / "pictures"
Colour = Literal["red", "orange", "blue", "green", "gray", "violet"]

# Both themes take their colours from the text's own, so there is nothing to keep in step.
CSS = """<style>
.stMainBlockContainer {max-width: 66rem; padding-top: 3.2rem; padding-bottom: 6rem}
.stMainBlockContainer .stVerticalBlock {gap: .7rem}
h1 {font-size: 1.9rem !important; padding-top: .2rem !important}
h2 {font-size: 1.3rem !important} h3 {font-size: 1.08rem !important}
mark {background: color-mix(in srgb, #f59e0b 38%, transparent); color: inherit; border-radius: .2em;
  padding: 0 .12em}
.passage {line-height: 1.55; white-space: pre-wrap; overflow-wrap: anywhere; margin: .2rem 0 .4rem}
.faint {opacity: .72; font-size: .86rem}
.passage code {font-size: .92em; padding: 0 .25em; border-radius: .25em;
  background: color-mix(in srgb, currentColor 9%, transparent)}
.chart {font-size: .86rem}
.chart .row {display: grid; grid-template-columns: 15rem 1fr 4.5rem; gap: 0 .7rem; align-items: center;
  padding: .12rem 0}
.chart .name {overflow: hidden; text-overflow: ellipsis; white-space: nowrap}
.chart .line {position: relative; height: 1.1rem; border-radius: .25rem;
  background: color-mix(in srgb, currentColor 7%, transparent)}
.chart .bar {position: absolute; top: .15rem; bottom: .15rem; border-radius: .2rem; background: #0d9488}
.chart .bar.model {background: #6366f1} .chart .bar.run {background: #64748b}
.chart .bar.failed {background: #dc2626}
.chart .time {text-align: right; font-variant-numeric: tabular-nums; opacity: .8}
[role="tab"][aria-selected="true"], [data-testid="stButtonGroup"] button {color: inherit !important}
[class*="st-key-conversation-"] button, [class*="st-key-conversation-"] button * {
  justify-content: flex-start; text-align: left}
[class*="st-key-conversation-"] button > div {width: 100%}
.scroll {overflow-x: auto}
.scroll table {border-collapse: collapse; width: 100%; font-size: .88rem}
.scroll th {text-align: left; opacity: .72; font-weight: 600}
.scroll th, .scroll td {padding: .3rem .7rem .3rem 0; white-space: nowrap;
  border-bottom: 1px solid color-mix(in srgb, currentColor 14%, transparent)}
.scroll td:first-child {white-space: normal; overflow-wrap: anywhere}
@media (max-width: 640px) {
  .stMainBlockContainer {padding: 3.4rem .9rem 6rem}
  .chart .row {grid-template-columns: 1fr auto; padding: .2rem 0}
  .chart .line {grid-column: 1 / -1; grid-row: 2}
}
</style>"""

RISKS: dict[str, tuple[str, Colour]] = {
    "reversible": ("reversible", "green"),
    "reversible_with_delay": ("reversible with delay", "orange"),
    "irreversible": ("irreversible", "red"),
}
STATES: dict[str, tuple[str, Colour]] = {
    "done": ("done", "green"),
    "finished": ("approved", "green"),
    "running": ("running", "green"),
    "failed": ("failed", "red"),
    "unknown": ("outcome unknown", "red"),
    "pending_approval": ("waits for a yes", "orange"),
    "waiting": ("waits for a yes", "orange"),
    "refused": ("held back by a rule", "gray"),
    "rejected": ("rejected", "gray"),
    "expired": ("expired", "gray"),
    "stopped": ("stopped", "gray"),
}
_NAME = re.compile(r"`[A-Za-z0-9_-]{1,64}`")
_NAMES = re.compile(f"({_NAME.pattern})")
_UPLOADED = re.compile(
    r"^(?:/|[A-Za-z]:[/\\]).*[/\\]uploads[/\\][^/\\]+[/\\](?=[^/\\]+$)"
)  # uploads/COLLECTION/FILE
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:])")


def plain(text: str) -> str:
    """Text as it is, wherever Markdown is read: no links, pictures, colours or headings of its own."""
    return _MARKDOWN.sub(r"\\\1", text)


def place(source: str) -> str:
    """Where a document stands, for a reader: one that was uploaded by its name alone."""
    return _UPLOADED.sub("", source)


def named(text: str) -> str:
    """The same, where names of tools in backticks stay names."""
    return "".join(
        part if _NAME.fullmatch(part) else broken(plain(part)) for part in _NAMES.split(text) if part
    )


def broken(markdown: str) -> str:
    """Lines stay lines: Markdown alone would run them together."""
    return markdown.replace("\n", "  \n")


def pretty(value: Any) -> str:
    return (
        value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)
    )


def ago(moment: str, now: datetime | None = None) -> str:
    """When something happened, as people say it."""
    at = datetime.fromisoformat(moment)
    seconds = ((now or datetime.now(UTC)) - at).total_seconds()
    for size, word in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{counted(int(seconds // size), word)} ago"
    return "just now"


def milliseconds(value: float) -> str:
    return (
        f"{value / 1000:.1f} s" if value >= 1000 else f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"
    )


def kilobytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1_000_000 else f"{max(1, round(size / 1000))} kB"


def badge(words: str, colour: Colour) -> str:
    """A badge as Markdown, for labels."""
    return f":{colour}-badge[{words}]"


def risk_badge(risk: str | None) -> None:
    if risk in RISKS:
        words, colour = RISKS[risk]
        st.badge(words, color=colour)


def state_badge(state: str) -> None:
    words, colour = STATES.get(state, (state, "gray"))
    st.badge(words, color=colour)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table to read. Plain markup: Streamlit's own would load a hundred megabytes for it."""
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    st.html(f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>')


class Bar(NamedTuple):
    """One line of a chart: where it begins and how long it is, in percent of the whole."""

    name: str
    left: float
    width: float
    words: str
    kind: str = "tool"  # tool, model, run or failed
    depth: int = 0


def chart(label: str, bars: Iterable[Bar]) -> str:
    """Names, bars and words, as markup. On a narrow screen a bar stands under its name."""
    rows = [
        f'<div class="row"><div class="name" style="padding-left:{min(bar.depth, 6) * 0.9:.1f}rem" '
        f'title="{escape(bar.name)}">{escape(bar.name)}</div>'
        f'<div class="line"><div class="bar {bar.kind}" style="left:{bar.left:.2f}%;'
        f'width:max({bar.width:.2f}%, {3 if bar.width else 0}px)"></div></div>'
        f'<div class="time">{escape(bar.words)}</div></div>'
        for bar in bars
    ]
    return f'<div class="chart" role="table" aria-label="{escape(label)}">{"".join(rows)}</div>'


def compare(label: str, values: Sequence[tuple[str, float, str]], *, kind: str = "tool") -> None:
    """Names with their sizes, the longest across the whole line."""
    longest = max((size for _, size, _ in values), default=0) or 1
    st.html(chart(label, (Bar(name, 0, 100 * size / longest, words, kind) for name, size, words in values)))


def short(text: str, most: int) -> str:
    """At most so many characters, cut between words."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"


def counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def empty(title: str, hint: str, *, icon: str) -> None:
    """Where there is nothing yet: what belongs here, and how to begin."""
    with st.container(border=True, horizontal_alignment="center"):
        st.markdown(f"#### {icon} {title}", text_alignment="center")
        st.caption(hint, text_alignment="center")
