"""A person's words are read in the room `language`: elsewhere a pattern needs a reason.

Fails on a file of agents, models, tasks, conversations or selection that imports `re` or `linear_re` and is
not listed here, and on a listed one that needs no pattern any more. RULES and GRAMMAR may only shrink: what
stands there is to be read by the taught reader (docs/decisions/0076).
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "steward"
ROOMS = ("agents", "models", "tasks", "conversations", "selection")

RULES = "rules of the house's own language, which go along with the taught reader"
GRAMMAR = "the form of a recurrence rule (RFC 5545)"
CONSENT = "yes, no and which one: strict, and never the reader's business"
ANSWERS = "reads what a model wrote or a tool returned, not what a person said"
FORMS = "reads definitions, identifiers, files or messages of programs, or cuts text for a model"

LISTED = {
    RULES: """
        agents/assistant/countdown.py agents/guards/gap_check.py agents/assistant/builtin_reader.py
        agents/assistant/languages.py agents/assistant/small_talk.py
        agents/assistant/own_knowledge.py agents/assistant/personal_facts.py agents/researcher/questions.py
        agents/skills/procedure.py agents/talk/amending.py
        agents/talk/changed_facts.py agents/talk/documents.py agents/talk/figures.py
        agents/talk/following.py agents/talk/followups.py agents/talk/own_record.py
        agents/talk/own_things.py agents/talk/remembering.py agents/talk/said_dates.py
        agents/talk/taking_back.py agents/talk/whole.py
        agents/tasks/task_calls.py agents/tasks/task_changes.py agents/tasks/task_choice.py
        models/planner/arguments.py models/planner/finding.py models/planner/readers.py
        models/planner/words.py selection/requests.py tasks/changes.py tasks/filters.py
        tasks/matching.py tasks/new_tasks.py tasks/priority.py
    """,
    GRAMMAR: "tasks/repeats.py",
    CONSENT: "conversations/consent.py",
    ANSWERS: """
        agents/turn/confidence.py agents/researcher/account.py agents/researcher/quotable.py
        agents/guards/about_person.py
        agents/guards/admission.py agents/guards/non_claims.py agents/guards/claims.py
        agents/guards/grounding.py agents/guards/bulk_deletion.py agents/guards/sentences.py
        agents/guards/task_truth.py agents/guards/wording.py models/planner/things.py
    """,
    FORMS: """
        agents/skills/book.py conversations/turns.py models/failures.py models/planner/dialogue.py
        models/planner/preferences.py models/wordpiece.py selection/definitions.py selection/index.py
        tasks/model.py
        tasks/reading.py tasks/users.py
    """,
}


def problems(source: Path = SOURCE) -> Iterator[str]:
    listed = {name for names in LISTED.values() for name in names.split()}
    found = {
        path.relative_to(source).as_posix()
        for room in ROOMS
        for path in (source / room).rglob("*.py")
        if _has_patterns(ast.parse(path.read_text()))
    }
    for name in sorted(found - listed):
        yield f"{name}: reads text with patterns. Read it in `language`, or list it here with a reason."
    for name in sorted(listed - found):
        yield f"{name}: needs no pattern any more. Take it off the list in scripts/check_language.py."


def _has_patterns(tree: ast.Module) -> bool:
    names = {"re", "linear_re", "regex"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and names & {alias.name for alias in node.names}:
            return True
        if isinstance(node, ast.ImportFrom):
            parts = {(node.module or "").rpartition(".")[2], *(alias.name for alias in node.names)}
            if names & parts:
                return True
    return False


if __name__ == "__main__":
    found = list(problems())
    for each in found:
        print(each)
    sys.exit(1 if found else 0)
