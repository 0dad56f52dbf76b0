"""Rooms and words that a newcomer can find their way in.

Fails where one level of a room holds more than 25 modules, where a class name stands twice in `src`, where
the glossary grows beyond 15 words, where a page does not begin with what its reader can do afterwards, and
where a page uses a word that readers stumble over.
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
MODULES_AT_ONE_LEVEL = 25
GLOSSARY_WORDS = 15
BANNED = re.compile(
    r"\b(whoever|whomever|somebody|whosoever)\b|\bwhat is [^.,:;|\"\u201d\n]{1,40} is\b", re.IGNORECASE
)
# Made from the specifications, an index, and what stands on the package's own page.
OTHER_BEGINNINGS = {"README.md", "requirements.md", "package.md"}
IN_THE_WORDS_OF_OTHERS = {"requirements.md"}


def problems(root: Path = ROOT) -> Iterator[str]:
    yield from _crowded(root / "src" / "steward")
    yield from _same_names(root / "src" / "steward")
    yield from _glossary(root / "docs" / "glossary.md")
    for page in sorted([root / "README.md", root / "CONTRIBUTING.md", *(root / "docs").glob("*.md")]):
        yield from _prose(page)


def _crowded(package: Path) -> Iterator[str]:
    for folder in sorted({path.parent for path in package.rglob("*.py")}):
        count = sum(path.name != "__init__.py" for path in folder.glob("*.py"))
        if count > MODULES_AT_ONE_LEVEL:
            yield f"{folder.name}: {count} modules at one level (at most {MODULES_AT_ONE_LEVEL}). Group them."


def _same_names(package: Path) -> Iterator[str]:
    places: dict[str, list[str]] = defaultdict(list)
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path.relative_to(package).as_posix())
    for name, found in places.items():
        if len(found) > 1:
            yield f"{name}: a class of this name stands in {', '.join(found)}. Name them apart."


def _glossary(page: Path) -> Iterator[str]:
    words = re.findall(r"^\| \*\*", page.read_text(encoding="utf-8"), re.MULTILINE)
    if len(words) > GLOSSARY_WORDS:
        yield f"{page.name}: {len(words)} words (at most {GLOSSARY_WORDS}). Use a word that needs no entry."


def _prose(page: Path) -> Iterator[str]:
    text = page.read_text(encoding="utf-8")
    if page.parent.name == "docs" and page.name not in OTHER_BEGINNINGS:
        opening = text.partition("\n")[2].lstrip()
        if not opening.startswith("After this page you "):
            yield f"{page.name}: begin with what the reader can do: 'After this page you can …'."
    for number, line in enumerate(text.splitlines(), 1):
        word = BANNED.search(line)
        if word is not None and page.name not in IN_THE_WORDS_OF_OTHERS:
            yield f"{page.name}:{number}: '{word[0]}'. Say who, in a short sentence."


if __name__ == "__main__":
    found = list(problems())
    for each in found:
        print(each)
    sys.exit(1 if found else 0)
