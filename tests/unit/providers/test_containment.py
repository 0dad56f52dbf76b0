"""What a contained program sees and may use, by each mechanism that holds on this machine."""

import marshal
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from steward.policy.containment import ContainmentRules
from steward.providers.containment import probe, seccomp, wrappers
from steward.providers.containment.plan import Containment, Mechanism, allowed_environment
from steward.providers.supervised import SUPERVISOR, Supervised

HERE = [one for one in (Mechanism.BUBBLEWRAP, Mechanism.NAMESPACES, Mechanism.LANDLOCK) if probe.holds(one)]

every_mechanism = pytest.mark.parametrize("mechanism", HERE)


def look(path: Path) -> str:
    """A program that says what it can do with a file."""
    return f"""
import os
def can(mode):
    try:
        open({str(path)!r}, mode).close()
        return True
    except OSError:
        return False
print("read" if can("rb") else "", "write" if can("r+b") else "")
"""


async def printed(
    program: str, mechanism: Mechanism, folder: Path, *, rules: ContainmentRules | None = None, **seen: Any
) -> tuple[int, str, str]:
    """Exit code, output and errors of a contained Python program."""
    hidden = seen.pop("hidden", ())
    inside = Containment(mechanism=mechanism, hidden=hidden, rules=lambda: rules or ContainmentRules())
    process = await Supervised.start(
        [sys.executable, "-S", "-c", program],
        folder=folder,
        environment={"PATH": os.defpath},
        confinement=inside.confine("tool", folder, **seen),
    )
    out, errors = await process.stdout.read(), await process.stderr.read()
    return await process.wait(), out.decode(), errors.decode()


def test_one_mechanism_at_least_holds_on_the_machines_that_build_steward() -> None:
    assert HERE
    assert probe.strongest() is HERE[0]


@every_mechanism
async def test_a_hidden_folder_is_not_there_but_for_what_is_kept(
    tmp_path: Path, mechanism: Mechanism
) -> None:
    home = tmp_path / "home"
    (home / "code").mkdir(parents=True)
    for name in ("secret", "script", "code/work"):
        (home / name).write_text(name)
    seen = {"hidden": (home,), "kept": (home / "script",), "writable": (home / "code",)}
    said = [
        (await printed(look(home / name), mechanism, tmp_path, **seen))[1].split()
        for name in ("secret", "script", "code/work")
    ]
    assert said == [[], ["read"], ["read", "write"]]


@every_mechanism
async def test_a_hidden_file_is_empty_or_refused(tmp_path: Path, mechanism: Mechanism) -> None:
    (tmp_path / ".env").write_text("KEY=secret")
    program = f"print(open({str(tmp_path / '.env')!r}).read())"
    _, out, _ = await printed(program, mechanism, tmp_path, hidden=(tmp_path / ".env",))
    assert "secret" not in out


@every_mechanism
async def test_what_the_policy_narrows_is_hidden_or_read_only(tmp_path: Path, mechanism: Mechanism) -> None:
    for name in ("private", "archive", "plain"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("x")
    rules = ContainmentRules(hide=(str(tmp_path / "private"),), read_only=(str(tmp_path / "archive"),))
    said = [
        (await printed(look(tmp_path / name / "file"), mechanism, tmp_path, rules=rules))[1].split()
        for name in ("private", "archive", "plain")
    ]
    assert said == [[], ["read"], ["read", "write"]]


@every_mechanism
async def test_a_local_socket_in_any_folder_is_closed(tmp_path: Path, mechanism: Mechanism) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        server.listen()
        program = f"""
import socket
try:
    socket.socket(socket.AF_UNIX).connect({str(tmp_path / "s")!r})
    print("reached")
except OSError:
    print("closed")
"""
        _, out, _ = await printed(program, mechanism, tmp_path)
    assert out == "closed\n"


@every_mechanism
@pytest.mark.parametrize(("opened", "expected"), [((), "closed\n"), (("to*",), "reached\n")])
async def test_the_network_opens_for_tools_that_the_policy_names(
    tmp_path: Path, mechanism: Mechanism, opened: tuple[str, ...], expected: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        program = f"""
import socket
try:
    socket.create_connection(("127.0.0.1", {server.getsockname()[1]}), 5)
    print("reached")
except OSError:
    print("closed")
"""
        _, out, _ = await printed(program, mechanism, tmp_path, rules=ContainmentRules(network=opened))
    assert out == expected


@every_mechanism
async def test_processes_in_all_are_limited(tmp_path: Path, mechanism: Mechanism) -> None:
    program = (
        "import os, time\nfor _ in range(60):\n    if os.fork() == 0:\n        time.sleep(20)\ntime.sleep(20)"
    )
    code, _, errors = await printed(program, mechanism, tmp_path, rules=ContainmentRules(processes=16))
    assert code != 0
    assert "more than 16 processes" in errors or "BlockingIOError" in errors


@every_mechanism
async def test_memory_is_limited_for_one_process_and_for_all_together(
    tmp_path: Path, mechanism: Mechanism
) -> None:
    rules = ContainmentRules(memory_mib=300)
    alone = await printed("held = bytearray(400 << 20)", mechanism, tmp_path, rules=rules)
    assert "MemoryError" in alone[2]
    together = (
        "import os, time\nfor _ in range(3):\n    if os.fork() == 0:\n        held = os.urandom(150 << 20)\n"
        "        time.sleep(20)\ntime.sleep(20)"
    )
    code, _, errors = await printed(together, mechanism, tmp_path, rules=rules)
    assert code != 0
    assert "more than 300 MiB" in errors


@every_mechanism
async def test_nothing_that_it_starts_goes_on_after_it(tmp_path: Path, mechanism: Mechanism) -> None:
    reader, writer = os.pipe()
    program = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
os.wait()
print("left")
"""
    inside = Containment(mechanism=mechanism).confine("tool", tmp_path)
    process = await Supervised.start(
        [sys.executable, "-S", "-c", program], folder=tmp_path, confinement=inside
    )
    os.close(reader)
    os.close(writer)
    assert await process.stdout.read() == b"left\n"  # ends only when nobody holds the stream any more
    assert await process.wait() == 0


@every_mechanism
async def test_an_exit_code_and_a_signal_come_through(tmp_path: Path, mechanism: Mechanism) -> None:
    assert (await printed("import os; os._exit(7)", mechanism, tmp_path))[0] == 7
    assert (await printed("import os; os.kill(os.getpid(), 15)", mechanism, tmp_path))[0] == 128 + 15


async def test_what_cannot_be_contained_does_not_run(tmp_path: Path) -> None:
    inside = Containment(mechanism=Mechanism.NAMESPACES).confine("tool", tmp_path)
    inside.plan["folder"] = str(tmp_path / "missing")
    process = await Supervised.start(["sh", "-c", "echo ran"], confinement=inside)
    assert await process.stdout.read() == b""
    assert b"could not be contained" in await process.stderr.read()
    assert await process.wait() == 126


def test_a_mechanism_that_does_not_hold_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not probe.holds(Mechanism.NONE)
    monkeypatch.setattr(probe, "holds", lambda _: False)
    assert probe.strongest.__wrapped__() is Mechanism.NONE


def test_a_supervisor_that_cannot_be_started_holds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe.sys, "executable", "/no/such/python")
    assert not probe.holds(Mechanism.NAMESPACES)


@pytest.mark.parametrize(
    ("system", "expected"),
    [("darwin", [Mechanism.SEATBELT]), ("win32", []), ("linux", [Mechanism.NAMESPACES, Mechanism.LANDLOCK])],
)
def test_each_system_has_its_own_mechanisms(
    monkeypatch: pytest.MonkeyPatch, system: str, expected: list[Mechanism]
) -> None:
    monkeypatch.setattr(probe.sys, "platform", system)
    monkeypatch.setattr(probe, "find_bubblewrap", lambda: None)
    monkeypatch.setattr(probe, "SEATBELT", sys.executable)
    assert probe._candidates() == expected


def test_bubblewrap_comes_first_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "find_bubblewrap", lambda: "/usr/bin/bwrap")
    assert probe._candidates()[0] is Mechanism.BUBBLEWRAP


def test_the_words_for_macos_hide_the_home_and_close_the_network(tmp_path: Path) -> None:
    home = tmp_path / 'ho"me'
    inside = Containment(mechanism=Mechanism.SEATBELT, hidden=(home,))
    plan = inside.confine("tool", tmp_path, kept=(home / "a.py",), writable=(home / "code",)).plan
    program, flag, profile, *command = wrappers.seatbelt(plan, ["python"])
    assert (program, flag, command) == ("/usr/bin/sandbox-exec", "-p", ["python"])
    quoted = str(home.resolve()).replace('"', '\\"')
    assert "(deny network*)" in profile
    assert f'(deny file* (subpath "{quoted}"))' in profile
    assert profile.index("(deny file* ") < profile.index(f'(allow file-read* (subpath "{quoted}/a.py"))')
    assert f'(allow file* (subpath "{quoted}/code"))' in profile


def test_the_words_for_bubblewrap_hide_the_home_and_close_the_network(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "code").mkdir(parents=True)
    (tmp_path / ".env").touch()
    inside = Containment(mechanism=Mechanism.BUBBLEWRAP, hidden=(home, tmp_path / ".env"))
    plan = inside.confine("tool", tmp_path, writable=(home / "code",)).plan
    words = wrappers.bubblewrap(plan, ["python"])
    assert "--unshare-net" in words
    assert ["--tmpfs", str(home)] == words[words.index(str(home)) - 1 :][:2]
    assert words.index(str(home)) < words.index(str(home / "code"))
    assert words[words.index(str(tmp_path / ".env")) - 1] == "/dev/null"
    assert words[-2:] == ["--", "python"]
    os.close(int(words[words.index("--seccomp") + 1]))


def test_a_machine_whose_calls_are_not_listed_gets_no_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp.os, "uname", lambda: SimpleNamespace(machine="s390x"))
    assert seccomp.build() is None


def test_a_run_that_would_start_in_a_hidden_folder_starts_at_the_top(tmp_path: Path) -> None:
    inside = Containment(mechanism=Mechanism.NONE, hidden=(tmp_path,))
    assert inside.confine("tool", tmp_path / "tools").start == "/"
    assert inside.confine("tool", tmp_path / "code", writable=(tmp_path / "code",)).start == str(
        tmp_path / "code"
    )


def test_of_the_environment_only_harmless_names_are_passed_on() -> None:
    ours = {
        "PATH": "/bin",
        "LC_TIME": "C",
        "GITHUB_PAT": "x",
        "https_proxy": "http://p",
        "SSL_CERT_FILE": "/c",
    }
    assert allowed_environment(ours, network=False) == {"PATH": "/bin", "LC_TIME": "C"}
    assert "GITHUB_PAT" not in allowed_environment(ours, network=True)
    assert allowed_environment(ours, network=True)["https_proxy"] == "http://p"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_an_account_without_rights_is_contained_too(tmp_path: Path) -> None:
    """With the system's own Python, which every account may run."""
    python, root = shutil.which("python3", path="/usr/bin:/bin"), SUPERVISOR.parents[2]
    assert python is not None
    secret = Path("/var/tmp") / f"steward-test-{os.getpid()}"
    secret.mkdir(mode=0o755)
    (secret / "key").write_text("secret")
    try:
        plan = (
            Containment(mechanism=Mechanism.NAMESPACES, hidden=(secret,)).confine("tool", Path("/")).words()
        )
        program = f"try:\n    print(open('{secret}/key').read())\nexcept OSError:\n    print('hidden')"
        lifeline, ours = os.pipe()
        done = subprocess.run(
            [python, "-I", "-S", str(SUPERVISOR), str(lifeline), *plan, python, "-c", program],
            pass_fds=(lifeline,), user="nobody", group="nogroup", extra_groups=[], cwd="/",
            capture_output=True, text=True, timeout=60, check=False, env={"PATH": os.defpath},
        )  # fmt: skip
        os.close(lifeline)
        os.close(ours)
    finally:
        shutil.rmtree(secret)
    assert (done.stdout, marshal.loads(bytes.fromhex(plan[1]))["mechanism"]) == ("hidden\n", "namespaces"), (
        done.stderr,
        root,
    )
