"""What a Python tool costs: the function in this process, in a warm worker, and in a new process per call.

The new process is what running `python tool.py` for each call would cost, without Steward. Prints
milliseconds and ratios of one run. Run with `make bench` or `python benchmarks/python_tools.py`.
"""

import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from steward.providers.scripts import ScriptToolsAgent
from steward.providers.tools_config import ToolsFile

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


async def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "length.py").write_text(SOURCE)
        entry = {"name": "length", "description": "Measure.", "script": "length.py"}
        (folder / "tools.json").write_text(json.dumps({"tools": [entry]}))
        agent = ScriptToolsAgent(ToolsFile(folder))
        await agent.initialize()

        async def in_worker() -> None:
            await agent.execute("length", ARGUMENTS)

        first = await measured(in_worker, calls=1)
        warm = await measured(in_worker, calls=300)
        fresh = await measured(new_process, calls=20)
        await agent.shutdown()
    print(f"first call {first:.1f} ms, warm worker {warm:.3f} ms, new process {fresh:.1f} ms")
    print(f"a warm worker is {fresh / warm:.0f} times faster than a new process for each call")


if __name__ == "__main__":
    asyncio.run(main())
