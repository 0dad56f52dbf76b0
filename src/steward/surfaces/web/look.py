"""How things look: colours of risk and state, words for times, text that stays text.

Owns nothing but presentation. Whatever comes from others (titles, arguments, results) passes `plain` or
`html.escape` on its way into markup.
"""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any, Literal

import streamlit as st

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
.waterfall {display: grid; grid-template-columns: minmax(9rem, 17rem) 1fr 4.5rem; gap: .2rem .7rem;
  align-items: center; font-size: .86rem}
.waterfall .name {overflow: hidden; text-overflow: ellipsis; white-space: nowrap}
.waterfall .line {position: relative; height: 1.1rem; border-radius: .25rem;
  background: color-mix(in srgb, currentColor 7%, transparent)}
.waterfall .bar {position: absolute; top: .15rem; bottom: .15rem; min-width: 3px; border-radius: .2rem;
  background: #0d9488}
.waterfall .bar.model {background: #6366f1} .waterfall .bar.run {background: #64748b}
.waterfall .bar.failed {background: #dc2626}
.waterfall .time {text-align: right; font-variant-numeric: tabular-nums; opacity: .8}
.bars {display: grid; grid-template-columns: minmax(8rem, 15rem) 1fr 4.5rem; gap: .25rem .7rem;
  align-items: center; font-size: .86rem}
.bars .name {overflow: hidden; text-overflow: ellipsis; white-space: nowrap}
.bars .bar {height: .9rem; border-radius: .2rem; background: #0d9488}
.bars .bar.bad {background: #dc2626}
.bars .time {text-align: right; font-variant-numeric: tabular-nums; opacity: .8}
.scroll {overflow-x: auto}
.scroll table {border-collapse: collapse; width: 100%; font-size: .88rem}
.scroll th {text-align: left; opacity: .72; font-weight: 600}
.scroll th, .scroll td {padding: .3rem .7rem .3rem 0; white-space: nowrap;
  border-bottom: 1px solid color-mix(in srgb, currentColor 14%, transparent)}
.scroll td:first-child {white-space: normal; overflow-wrap: anywhere}
@media (max-width: 640px) {
  .stMainBlockContainer {padding: 3.4rem .9rem 6rem}
  .waterfall {grid-template-columns: 1fr 3.6rem} .waterfall .line {grid-column: 1 / -1; grid-row: auto}
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
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:])")


def plain(text: str) -> str:
    """Text as it is, wherever Markdown is read: no links, pictures, colours or headings of its own."""
    return _MARKDOWN.sub(r"\\\1", text)


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
            count = int(seconds // size)
            return f"{count} {word}{'' if count == 1 else 's'} ago"
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


def bars(label: str, values: Sequence[tuple[str, float, str]], *, bad: bool = False) -> None:
    """A bar chart: name, size and words for each bar."""
    longest = max((size for _, size, _ in values), default=0) or 1
    cells = [
        f'<div class="name" title="{escape(name)}">{escape(name)}</div>'
        f'<div><div class="bar{" bad" if bad else ""}" style="width:{100 * size / longest:.1f}%"></div></div>'
        f'<div class="time">{escape(words)}</div>'
        for name, size, words in values
    ]
    st.html(f'<div class="bars" role="img" aria-label="{escape(label)}">{"".join(cells)}</div>')


def empty(title: str, hint: str, *, icon: str) -> None:
    """Where there is nothing yet: what belongs here, and how to begin."""
    with st.container(border=True, horizontal_alignment="center"):
        st.markdown(f"#### {icon} {title}", text_alignment="center")
        st.caption(hint, text_alignment="center")
