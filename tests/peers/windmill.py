"""A flow of Windmill, run step by step as plain Python: as much of a worker as the example's flow needs.

Owns no schema: Windmill's own validator looks at the file. What a step returned is kept, as Windmill keeps
it; a step that fails ends the run until it is gone on with, in place of Windmill's retries.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

STEP = """
import json, runpy, sys
print(json.dumps(runpy.run_path(sys.argv[1])["main"](**json.loads(sys.argv[2]))))
"""


class StepFailedError(Exception):
    """A step failed; what came before it is kept."""


class Flow:
    def __init__(self, file: Path, *, job: str, resource: dict[str, str]) -> None:
        self._folder = file.parent
        self._root = file.parents[3]  # of the workspace, from which scripts import each other
        flow = yaml.safe_load(file.read_text(encoding="utf-8"))
        self._modules: list[dict[str, Any]] = flow["value"]["modules"]
        self._job = job
        self._resource = resource
        self._kept: dict[str, Any] = {}

    def forget(self, step: str) -> None:
        """As if its worker had died before its result was kept."""
        del self._kept[next(name for name in reversed(self._kept) if name.startswith(f"{step}@"))]

    def go_on(self) -> Any:
        return self._run(self._modules, {}, "")

    def _run(self, modules: list[dict[str, Any]], known: dict[str, Any], place: str) -> Any:
        known = {**known, "results": {}}
        last: Any = None
        for module in modules:
            name, value = module["id"], module["value"]
            if value["type"] == "forloopflow":
                last = [
                    self._run(value["modules"], {"flow_input": {"iter": {"value": each}}}, f"{place}/{at}")
                    for at, each in enumerate(self._worth(value["iterator"], known))
                ]
            else:
                last = self._step(f"{name}@{place}", value, known)
            known["results"][name] = last
        return last

    def _step(self, key: str, value: dict[str, Any], known: dict[str, Any]) -> Any:
        if key not in self._kept:
            given = {name: self._worth(each, known) for name, each in value["input_transforms"].items()}
            script = self._folder / value["content"].removeprefix("!inline ")
            process = subprocess.run(
                [sys.executable, "-c", STEP, str(script), json.dumps(given)],
                env=os.environ | {"WM_ROOT_FLOW_JOB_ID": self._job, "PYTHONPATH": str(self._root)},
                capture_output=True, text=True, timeout=60, check=False,
            )  # fmt: skip
            if process.returncode:
                raise StepFailedError(process.stderr)
            self._kept[key] = json.loads(process.stdout)
        return self._kept[key]

    def _worth(self, transform: dict[str, Any], known: dict[str, Any]) -> Any:
        """A transform's value: a resource, or a path such as `results.look`."""
        if transform["type"] == "static":
            assert transform["value"].startswith("$res:")
            return self._resource
        found: Any = known
        for part in transform["expr"].split("."):
            found = found[part]
        return found
