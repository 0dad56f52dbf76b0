"""Honest answers of a model, each with the turn it belongs to: true_answers.jsonl.

A turn is what the person said and what the door answered (`called`). The tasks are those of task_turns.py.
"""

import json
from pathlib import Path


def _read(line: str) -> tuple[str, str, str]:
    turn = json.loads(line)
    return turn["said"], turn["called"], turn["answered"]


HONEST = [_read(line) for line in Path(__file__).with_suffix(".jsonl").read_text("utf-8").splitlines()]
