"""What a Python tool and a run of code cost, contained and not, beside a new process for each call.

The new process is what running `python tool.py` for each call would cost, without Steward. Prints
milliseconds and ratios of one run. Run with `make bench` or `python benchmarks/python_tools.py`.
"""

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from steward.contract.call import Done
from steward.providers.code_execution import SPEC, code_execution_tool
from steward.providers.containment.plan import Containment, Mechanism
from steward.providers.containment.probe import strongest
from steward.providers.functions import LegacyToolAgent
from steward.providers.scripts.script_agent import ScriptToolsAgent
from steward.providers.scripts.tools_config import ToolsFile
from steward.providers.scripts.workers import WorkerPool, Workplace

SOURCE = "import json, re\ndef run(text):\n    return {'length': len(text)}\n"
PROGRAM = SOURCE + "import sys\nprint(json.dumps(run(**json.load(sys.stdin))))\n"
ARGUMENTS = {"text": "the spare key is at Ana's"}


async def measured(call: Callable[[], Awaitable[object]], *, calls: int) -> float:
    """Milliseconds of the median call."""
    took: list[float] = []
    for _ in range(calls):
        started = time.perf_counter()
        await call()
        took.append(time.perf_counter() - started)
    return statistics.median(took) * 1000


async def new_process() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate(json.dumps(ARGUMENTS).encode())
    assert json.loads(output) == {"length": 25}


async def tools_in(home: Path, containment: Containment) -> tuple[float, float, float]:
    """Milliseconds of a tool's first call, of its warm calls, and of a run of code."""
    environment = dict(os.environ)
    first: list[float] = []
    for _ in range(5):
        pool = WorkerPool(place=Workplace(containment, environment))
        agent = ScriptToolsAgent(ToolsFile(home / "tools"), pool=pool)
        await agent.initialize()

        async def in_worker(agent: ScriptToolsAgent = agent) -> None:
            assert isinstance(await agent.execute("length", ARGUMENTS), Done)

        first.append(await measured(in_worker, calls=1))
        warm = await measured(in_worker, calls=200)
        await agent.shutdown()
    code = code_execution_tool(home / "code", containment=containment, environment=environment)
    workbench = LegacyToolAgent("code", [code])

    async def run_code() -> None:
        assert isinstance(await workbench.execute(SPEC.name, {"code": "print(1)"}), Done)

    return statistics.median(first), warm, await measured(run_code, calls=20)


async def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        (home / "tools").mkdir()
        (home / "tools" / "length.py").write_text(SOURCE)
        entry = {"name": "length", "description": "Measure.", "script": "length.py"}
        (home / "tools" / "tools.json").write_text(json.dumps({"tools": [entry]}))
        fresh = await measured(new_process, calls=20)
        for mechanism in (Mechanism.NONE, strongest(), Mechanism.NONE, strongest()):
            contained = Containment(mechanism=mechanism, hidden=(home,))
            first, warm, code = await tools_in(home, contained)
            print(
                f"{mechanism:10} first call {first:6.1f} ms, warm worker {warm:.3f} ms, "
                f"code_execution {code:6.1f} ms, new process {fresh:.1f} ms"
            )
    print(f"a warm worker is {fresh / warm:.0f} times faster than a new process for each call")


if __name__ == "__main__":
    asyncio.run(main())
