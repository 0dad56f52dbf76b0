"""Code that a person agreed to tries to become Steward: its files, its keys, its processes, its database.

Each attack is a program that runs through the door, with a person's yes, and prints what it got hold of.
"""

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from tests.attacks.conftest import ADMIN, Victim, running_victim
from tests.support.postgres import TestServer

pytestmark = pytest.mark.slow

SECRETS = {
    "OTEL_EXPORTER_OTLP_HEADERS": "authorization=otel-secret-7f3a",
    "SMTP_PASS": "smtp-secret-7f3a",
    "GITHUB_PAT": "github-secret-7f3a",
    "MY_OWN_THING": "odd-secret-7f3a",
}
ENTRIES = [
    {"name": "thief", "description": "Run what it is given.", "script": "thief.py", "risk": "irreversible"},
    {"name": "other", "description": "Another tool.", "script": "other.py", "risk": "irreversible"},
]
THIEF = """
import contextlib, io
def run(code):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(code, {})
    return {"stdout": said.getvalue()}
"""


@pytest.fixture(scope="module")
def victim(postgres: TestServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victim]:
    folder = tmp_path_factory.mktemp("contained")
    (folder / ".env").write_text("STEWARD_MODEL=planner\nHIDDEN=dotenv-secret-7f3a\n")
    files = {
        "tools/tools.json": {"tools": ENTRIES},
        "tools/thief.py": THIEF,
        "tools/other.py": "KEY = 'script-secret-7f3a'\ndef run():\n    return KEY\n",
    }
    with running_victim(postgres, folder, files=files, **SECRETS) as running:
        yield running


def agreed(victim: Victim, tool: str, **arguments: Any) -> dict[str, Any]:
    """The result of a call that a person agreed to."""
    client = victim.client(ADMIN)
    answer = client.post(f"/v1/tools/{tool}/call", json={"arguments": arguments}).json()
    assert answer["status"] == "pending_approval", answer
    return client.post(f"/v1/proposals/{answer['proposal_id']}/approve", json={}, timeout=60).json()


def code(victim: Victim, program: str) -> str:
    """What an approved program printed."""
    result = agreed(victim, "code_execution", code=program)
    assert result["data"] is not None, result
    return result["data"]["stdout"]


def in_tool(victim: Victim, program: str) -> str:
    """What a Python tool printed that runs the same program."""
    result = agreed(victim, "thief", code=program)
    assert result["status"] == "done", result
    return result["data"]["stdout"]


RUNNERS = pytest.mark.parametrize("run", [code, in_tool])

READ_ALL = """
import pathlib
for path in pathlib.Path({home!r}).rglob("*"):
    try:
        if path.is_file() and not path.name.startswith(".program"):
            print(path, path.read_bytes()[:20000])
    except OSError:
        pass
"""


@pytest.mark.req("RES-ART-II.F")
@RUNNERS
def test_the_files_of_the_home_cannot_be_read(victim: Victim, run: Any) -> None:
    printed = run(victim, READ_ALL.format(home=str(victim.home)))
    seen = [line.split(" ")[0] for line in printed.splitlines()]
    assert [path for path in seen if not path.endswith("thief.py")] == []


def test_another_tools_script_cannot_be_read(victim: Victim) -> None:
    assert "script-secret" not in in_tool(victim, READ_ALL.format(home=str(victim.home)))


@RUNNERS
def test_no_environment_of_any_process_holds_a_key(victim: Victim, run: Any) -> None:
    printed = run(
        victim,
        """
import glob
for name in glob.glob("/proc/[0-9]*/environ") + ["/proc/%d/environ" % __PID__]:
    try:
        print(open(name, "rb").read())
    except OSError:
        pass
""".replace("__PID__", str(victim.process.pid)),
    )
    assert ADMIN not in printed
    assert "secret-7f3a" not in printed


@RUNNERS
def test_the_programs_own_environment_holds_no_secret(victim: Victim, run: Any) -> None:
    printed = run(victim, "import os; print(dict(os.environ))")
    assert [name for name in (*SECRETS, "STEWARD_API_KEY", "DATABASE_URL") if name in printed] == []


@RUNNERS
def test_other_processes_are_not_seen(victim: Victim, run: Any) -> None:
    printed = run(
        victim,
        """
import glob
for name in glob.glob("/proc/[0-9]*/cmdline"):
    try:
        print(open(name, "rb").read().replace(bytes(1), b" "))
    except OSError:
        pass
""",
    )
    assert "steward up" not in printed
    assert "postgres" not in printed


def test_the_server_cannot_be_traced(victim: Victim) -> None:
    program = f"""
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
attached = libc.ptrace(16, {victim.process.pid}, 0, 0)
if attached == 0:
    os.waitpid({victim.process.pid}, 0x40000000)
    libc.ptrace(17, {victim.process.pid}, 0, 0)
print("attached" if attached == 0 else "refused")
"""
    assert code(victim, program) == "refused\n"


def test_the_memory_of_the_server_cannot_be_opened(victim: Victim) -> None:
    program = f"""
try:
    command = open("/proc/{victim.process.pid}/cmdline", "rb").read()
    open("/proc/{victim.process.pid}/mem", "rb").close()
    print("steward" if b"steward" in command else "somebody else")
except OSError:
    print("refused")
"""
    assert code(victim, program) != "steward\n"


def test_the_server_cannot_be_signalled(victim: Victim) -> None:
    program = f"""
import os
try:
    print("steward" if b"steward" in open("/proc/{victim.process.pid}/cmdline", "rb").read() else "nobody")
    os.kill({victim.process.pid}, 0)
    print("signalled")
except OSError:
    print("refused")
"""
    assert "steward" not in code(victim, program)


def test_a_stolen_key_does_not_reach_the_api(victim: Victim) -> None:
    program = f"""
import urllib.request
try:
    request = urllib.request.Request("{victim.url}/v1/proposals", headers={{"X-API-Key": "{ADMIN}"}})
    print(urllib.request.urlopen(request, timeout=5).status)
except OSError:
    print("refused")
"""
    assert code(victim, program) == "refused\n"


def test_the_database_does_not_answer(victim: Victim) -> None:
    program = f"""
import asyncio, asyncpg
async def main():
    try:
        connection = await asyncpg.connect({victim.environment["DATABASE_URL"]!r}, timeout=5)
        print(await connection.fetchval("SELECT 'reached'"))
    except OSError:
        print("refused")
asyncio.run(main())
"""
    assert code(victim, program) == "refused\n"


@RUNNERS
def test_the_network_is_closed(victim: Victim, run: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        printed = run(
            victim,
            f"import socket\ntry:\n    socket.create_connection(('127.0.0.1', {port}), 5)\n"
            "    print('reached')\nexcept OSError:\n    print('refused')",
        )
    assert printed == "refused\n"


@RUNNERS
def test_no_tool_can_be_planted(victim: Victim, run: Any) -> None:
    printed = run(
        victim,
        f"import pathlib\nplace = pathlib.Path({str(victim.home)!r}) / 'tools'\n"
        "try:\n    place.mkdir(exist_ok=True)\n    (place / 'planted.py').write_text('x')\n"
        "    print('planted')\n"
        "except OSError:\n    print('refused')",
    )
    assert printed == "refused\n"
    assert not (victim.home / "tools" / "planted.py").exists()


@RUNNERS
def test_the_tools_own_script_cannot_be_changed(victim: Victim, run: Any) -> None:
    run(
        victim,
        f"import pathlib\nplace = pathlib.Path({str(victim.home)!r}) / 'tools' / 'thief.py'\n"
        "try:\n    place.write_text(place.read_text() + '# changed')\nexcept OSError:\n    pass",
    )
    assert (victim.home / "tools" / "thief.py").read_text() == THIEF


def test_the_policy_cannot_be_written(victim: Victim) -> None:
    before = (victim.home / "policy.toml").read_text()
    code(
        victim,
        f"try:\n    open({str(victim.home / 'policy.toml')!r}, 'a').write('trust = [\"x\"]')\n"
        "except OSError:\n    pass",
    )
    assert (victim.home / "policy.toml").read_text() == before


def test_stewards_own_code_cannot_be_changed(victim: Victim) -> None:
    program = """
import importlib.util
place = importlib.util.find_spec("steward").origin
try:
    open(place, "a").close()
    print("opened")
except OSError:
    print("refused")
"""
    assert code(victim, program) == "refused\n"


def test_the_settings_file_of_the_start_folder_cannot_be_read(victim: Victim) -> None:
    program = f"try:\n    print(open({str(victim.folder / '.env')!r}).read())\nexcept OSError:\n    pass"
    assert "dotenv-secret" not in code(victim, program)


def test_rights_cannot_be_gained(victim: Victim) -> None:
    lines = code(victim, "print(open('/proc/self/status').read())").splitlines()
    status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    assert status["NoNewPrivs"] == "1"
    administering = 1 << 21 | 1 << 19 | 1 << 16 | 1 << 7  # administer, trace, load modules, become somebody
    assert int(status["CapBnd"], 16) & administering == 0 or int(status["CapEff"], 16) == 0


def test_what_covers_the_home_cannot_be_lifted(victim: Victim) -> None:
    program = f"""
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.unshare(0x10000000 | 0x00020000)
libc.umount2({str(victim.home)!r}.encode(), 2)
print(os.path.exists({str(victim.home / "policy.toml")!r}))
"""
    assert code(victim, program) == "False\n"


def test_disks_and_kernel_settings_are_out_of_reach(victim: Victim) -> None:
    program = """
import glob
def opens(name, mode):
    try:
        open(name, mode).close()
        return True
    except OSError:
        return False
disks = [name for kind in ("vd", "sd", "nvme", "mem") for name in glob.glob(f"/dev/{kind}*")]
print([name for name in disks if opens(name, "rb")], opens("/proc/sys/kernel/core_pattern", "r+"))
"""
    assert code(victim, program) == "[] False\n"


def test_a_bomb_of_processes_is_stopped(victim: Victim) -> None:
    program = """
import os, time
for made in range(1, 601):
    if os.fork() == 0:
        time.sleep(8)
        os._exit(0)
time.sleep(1)
print("all", made)
"""
    result = agreed(victim, "code_execution", code=program)
    assert result["status"] == "failed"
    assert "all" not in result["data"]["stdout"]


def test_a_bomb_of_memory_is_stopped(victim: Victim) -> None:
    result = agreed(victim, "code_execution", code="held = bytearray(9 << 30)\nprint(len(held))")
    assert result["status"] == "failed"
    assert "MemoryError" in result["data"]["stderr"]
