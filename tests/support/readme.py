"""The README as a program: its console blocks, command by command, with what they promise."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"
_EXIT = re.compile(r"\s+# exit (\d+).*$")


@dataclass(frozen=True, slots=True)
class Shown:
    """A command and what is shown of its output; `…` stands for anything."""

    command: str
    exit_code: int = 0
    output: list[str] = field(default_factory=list[str])

    def promises(self, said: str) -> list[str]:
        """The lines that did not come."""
        return [
            line
            for line in self.output
            if not re.search(".*".join(re.escape(part) for part in line.split("…")), said)
        ]


def blocks(kind: str) -> Iterator[list[str]]:
    text = README.read_text(encoding="utf-8")
    for block in re.findall(rf"^```{kind}\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield block.splitlines()


def shown() -> Iterator[Shown]:
    for lines in blocks("console"):
        current: Shown | None = None
        for line in lines:
            if line.startswith("$ "):
                if current is not None:
                    yield current
                code = _EXIT.search(line)
                current = Shown(_EXIT.sub("", line[2:]), int(code[1]) if code else 0)
            elif current is not None:
                current.output.append(line)
        if current is not None:
            yield current


def mentioned() -> Iterator[str]:
    """Every command of ours that stands anywhere in the README, in a block or between backticks."""
    text = README.read_text(encoding="utf-8")
    for code in re.findall(r"`([^`\n]+)`", text) + [line for lines in blocks("bash") for line in lines]:
        if found := re.search(r"(?:^|\s)((?:steward|research-agent|make) [a-z].*)", code):
            yield found[1].partition("#")[0].strip()
