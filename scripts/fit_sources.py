"""Reads requests and the tools that serve them out of five open collections, for scripts/train_fit.py.

    python scripts/fit_sources.py CHECKOUTS OUT.jsonl.gz

CHECKOUTS holds git repositories named clinc (clinc/oos-eval), sgd (google-research-datasets/
dstc8-schema-guided-dialogue), tldr (tldr-pages/tldr), acebench (ACEBench/ACEBench) and callnavi
(Etamin/CallNavi). What CLINC's intents do is told in our own words in scripts/fit/clinc.tsv.
"""

import gzip
import io
import json
import random
import re
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FIT = Path(__file__).parent / "fit"
SMALL_TALK = {
    "yes",
    "no",
    "maybe",
    "repeat",
    "cancel",
    "thank_you",
    "goodbye",
    "greeting",
    "meaning_of_life",
    "where_are_you_from",
    "who_made_you",
    "do_you_have_pets",
    "who_do_you_work_for",
    "what_is_your_name",
    "what_are_your_hobbies",
    "are_you_a_bot",
    "how_old_are_you",
}
OF_AN_INTENT = {"clinc": 20, "sgd": 14}
DIALOGUES = {"train": 60, "dev": 12, "test": 12}  # files
SHORTEST, LONGEST = 5, 900  # words, characters
NOTES = ("> More info", "> See also", "> Note", "> This command is an alias")
Tool = tuple[str, str]


class Checkout:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def _git(self, *words: str) -> bytes:
        return subprocess.run(
            ["git", "-C", str(self._folder), *words], capture_output=True, check=True
        ).stdout

    def paths(self) -> list[str]:
        return self._git("ls-tree", "-r", "--name-only", "HEAD").decode().splitlines()

    def text(self, path: str) -> str:
        return self._git("show", f"HEAD:{path}").decode(errors="replace")

    def holds(self, path: str) -> bool:
        """A partial clone lists files that it does not hold."""
        found = subprocess.run(
            ["git", "-C", str(self._folder), "cat-file", "-e", f"HEAD:{path}"], check=False
        )
        return found.returncode == 0

    def json(self, path: str) -> Any:
        return json.loads(self.text(path))

    def rows(self, path: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text(path).splitlines() if line.startswith("{")]

    def archive(self, folder: str) -> tarfile.TarFile:
        return tarfile.open(fileobj=io.BytesIO(self._git("archive", "HEAD", folder)))


def row(request: str, source: str, tools: list[Tool], others: list[Tool] | None = None) -> dict[str, Any]:
    def told(each: list[Tool]) -> list[dict[str, str]]:
        return [{"name": name, "description": about, "params": ""} for name, about in each]

    return {
        "query": request.strip(),
        "positive": told(tools),
        "candidates": told(others or []),
        "pool": source,
        "gap": False,
    }


def clinc(checkout: Checkout, _rng: random.Random) -> Iterator[dict[str, Any]]:
    about = dict(line.split("\t") for line in (FIT / "clinc.tsv").read_text().splitlines())
    seen: Counter[str] = Counter()
    for request, intent in checkout.json("data/data_full.json")["train"]:
        if intent not in SMALL_TALK and seen[intent] < OF_AN_INTENT["clinc"]:
            seen[intent] += 1
            yield row(request, "clinc", [(intent, about[intent])])


def sgd(checkout: Checkout, rng: random.Random) -> Iterator[dict[str, Any]]:
    """The turns in which a person first asks for something."""
    intents: dict[tuple[str, str], Tool] = {}
    for part in DIALOGUES:
        for service in checkout.json(f"{part}/schema.json"):
            for intent in service["intents"]:
                about = intent["description"]
                if rng.random() < 0.4:
                    about = f"{about}. {service['description']}"
                intents[service["service_name"], intent["name"]] = (intent["name"], about)
    seen: Counter[tuple[str, str]] = Counter()
    for part, count in DIALOGUES.items():
        files = [path for path in checkout.paths() if path.startswith(f"{part}/dialogues")]
        rng.shuffle(files)
        held = filter(checkout.holds, files[:count])
        for dialogue in (each for path in held for each in checkout.json(path)):
            for intent, request in first_asked(dialogue):
                if seen[intent] < OF_AN_INTENT["sgd"]:
                    seen[intent] += 1
                    yield row(request, "sgd", [intents[intent]])


def first_asked(dialogue: dict[str, Any]) -> Iterator[tuple[tuple[str, str], str]]:
    before: set[tuple[str, str]] = set()
    for turn in dialogue["turns"]:
        if turn["speaker"] != "USER" or len(turn["utterance"].split()) < SHORTEST:
            continue
        for frame in turn["frames"]:
            intent = (frame["service"], frame["state"]["active_intent"])
            if intent[1] != "NONE" and intent not in before:
                before.add(intent)
                yield intent, turn["utterance"]


def tldr(checkout: Checkout, rng: random.Random) -> Iterator[dict[str, Any]]:
    """What half of the pages show how to do, two examples of each."""
    archive = checkout.archive("pages")
    for member in archive:
        file = archive.extractfile(member) if member.name.endswith(".md") and rng.random() < 0.5 else None
        if file is None:
            continue
        page = file.read().decode()
        about = [
            line[2:] for line in page.splitlines() if line.startswith("> ") and not line.startswith(NOTES)
        ]
        shown = [re.sub(r"[\[\]`]", "", each) for each in re.findall(r"^- (.+):$", page, re.MULTILINE)]
        shown = [each for each in shown if len(each.split()) > 3 and not re.search(r"(?i)help|version", each)]
        name = re.search(r"^# (.+)$", page, re.MULTILINE)
        if name and about and "alias" not in page[:300]:
            for request in rng.sample(shown, min(2, len(shown))):
                yield row(request, "tldr", [(name[1], " ".join(about).strip())])


def acebench(checkout: Checkout, _rng: random.Random) -> Iterator[dict[str, Any]]:
    for path in checkout.paths():
        if not path.startswith("data_all/data_en/data_normal") or "multi_turn" in path:
            continue
        answers = {}
        for answer in checkout.rows(path.replace("data_en/", "data_en/possible_answer/")):
            truth = answer["ground_truth"]
            answers[answer["id"]] = set(truth if isinstance(truth, dict) else truth[0] if truth else ())
        for each in checkout.rows(path):
            request = re.sub(r"^user:\s*", "", each["question"]).strip()
            listed = [(tool["name"], tool.get("description", "")) for tool in each["function"]]
            called = {re.sub(r"_\d+$", "", str(name)) for name in answers[each["id"]]} | answers[each["id"]]
            right = [tool for tool in listed if tool[0] in called]
            if right and "system:" not in request and len(request) < LONGEST:
                yield row(request, "acebench", right, [tool for tool in listed if tool not in right])


def callnavi(checkout: Checkout, _rng: random.Random) -> Iterator[dict[str, Any]]:
    for path in checkout.paths():
        if not path.startswith("Dataset/Questions/") or not path.endswith(".json"):
            continue
        tools = {
            tool["name"]: tool.get("description", "")
            for tool in checkout.json(path.replace("Questions", "APISchema"))
        }
        for each in checkout.json(path):
            names = each["ground_truth"]["API"]
            called = dict.fromkeys([names] if isinstance(names, str) else names)
            right = [(name, tools[name]) for name in called if name in tools]
            if right:
                yield row(each["question"][0]["content"], "callnavi", right)


def main() -> None:
    checkouts, out = Path(sys.argv[1]), sys.argv[2]
    rng = random.Random(7)
    with gzip.open(out, "wt", encoding="utf-8") as file:
        for read in (clinc, sgd, tldr, acebench, callnavi):
            rows = list(read(Checkout(checkouts / read.__name__), rng))
            print(read.__name__, len(rows))
            file.writelines(json.dumps(each) + "\n" for each in rows)


if __name__ == "__main__":
    main()
