"""The process of a hook: what an agent says is in the spool, an answer is said once, and nothing ever goes wrong."""

import os
import pty
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

from planwire.hooks.agent_process import agent_process
from planwire.hooks.command_line import ENTRY, Role, hook_command
from planwire.journal import spool_append
from planwire.journal.spool import Spool, Spooled
from tests.waiting import until

PAYLOAD = b'{"session_id": "abc", "hook_event_name": "PostToolUse", "tool_input": {"text": "\xc3\xa9"}}\n'
OWN_CALL = (
    b'{"session_id": "abc", "hook_event_name": "PreToolUse", "prompt_id": "p", "permission_mode": "default",'
    b' "tool_name": "mcp__plugin_planwire_planwire__set_plan", "tool_input": {}, "tool_use_id": "t",'
    b' "mcp_server": {"name": "plugin:planwire:planwire", "source": "plugin"}}'
)
ALLOWED = b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}\n'
#: What a hook may load beyond what every Python does: all the rest is too slow.
LOADED = {"os", "stat", "_stat", "posixpath", "genericpath", "_collections_abc", "errno", "fcntl", "binascii"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "journal.db-hooks"


def run(
    role: Role, folder: Path, payload: bytes = PAYLOAD, agent: str | None = None, **environment: str
) -> "subprocess.CompletedProcess[bytes]":
    """A hook as an agent runs it. What it writes to standard error would be thrown away, and is not here."""
    command = hook_command(role, folder, agent).replace(" 2>/dev/null", "")
    result = subprocess.run(
        ["sh", "-c", command], input=payload, capture_output=True, check=False, env={**os.environ, **environment}
    )
    assert (result.returncode, result.stderr) == (0, b"")
    return result


def records(folder: Path) -> list[Spooled]:
    spool = Spool(folder)
    found = []
    with (lock := spool.drainer_lock()):
        for segment in spool.drain(lock):
            found += [each for each in segment if isinstance(each, Spooled)]
            segment.done()
    return found


@contextmanager
def draining(folder: Path, answer: bytes | None) -> Iterator[list[Spooled]]:
    """Somebody who drains, and gives every record that wants one the same answer, if any."""
    spool = Spool(folder)
    lock = spool.drainer_lock()
    assert lock.acquire()
    heard: list[Spooled] = []
    is_over = Event()

    def drain() -> None:
        while not is_over.wait(0.002):
            for segment in spool.drain(lock):
                for each in segment:
                    assert isinstance(each, Spooled)
                    if answer is not None and "answer" in each.note:
                        put_answer(folder, each.note["answer"], answer)
                    heard.append(each)
                segment.done()

    thread = Thread(target=drain)
    thread.start()
    try:
        yield heard
    finally:
        is_over.set()
        thread.join()
        lock.release()


def put_answer(folder: Path, name: str, answer: bytes) -> None:
    (folder / "answers").mkdir(exist_ok=True)
    draft = folder / "answers" / f".{name}"
    draft.write_bytes(answer)
    draft.rename(folder / "answers" / name)


def answers(folder: Path) -> list[str]:
    """What became of the answers."""
    return sorted(path.suffix for path in (folder / "answers").iterdir())


class TestRecord:
    def test_what_the_agent_says_is_in_the_spool_byte_for_byte(self, folder: Path) -> None:
        before = time.time_ns() // 1_000_000
        assert run("record", folder).stdout == b""
        (found,) = records(folder)
        assert found.body == PAYLOAD
        assert found.note["role"] == "record"
        assert before <= int(found.note["at"]) <= found.at <= time.time_ns() // 1_000_000
        assert "agent" not in found.note
        assert "answer" not in found.note

    def test_the_agent_is_noted_if_the_hook_files_are_for_it_alone(self, folder: Path) -> None:
        run("record", folder, agent="gemini")
        (found,) = records(folder)
        assert found.note["agent"] == "gemini"

    def test_variables_of_agents_are_noted_without_what_they_hold(self, folder: Path) -> None:
        run("record", folder, CLAUDECODE="secret", GEMINI_SESSION_ID="secret", OTHER="secret")
        noted = (folder / "spool").read_bytes()
        (found,) = records(folder)
        assert {"CLAUDECODE", "GEMINI_SESSION_ID"} <= set(found.note["variables"].split())
        assert b"secret" not in noted
        assert b"OTHER" not in noted

    @pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system does not show processes as files")
    def test_the_processes_that_it_descends_from_are_noted(self, folder: Path) -> None:
        run("record", folder)
        (found,) = records(folder)
        head, _, tail = Path("/proc/self/stat").read_text().rpartition(")")
        shell, test, *_ = ancestors = found.note["ancestors"].split(",")
        assert test == f"{os.getpid()}:{tail.split()[19]}:{head.partition('(')[2]}"
        assert shell.endswith("sh")
        assert len(ancestors) <= 6

    @pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system does not show processes as files")
    def test_what_is_above_a_persons_own_shell_is_no_agent(self, folder: Path) -> None:
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv("/bin/sh", ["sh", "-c", f"echo '{{}}' | {hook_command('record', folder)}; true"])
        os.waitpid(pid, 0)
        os.close(terminal)
        (found,) = records(folder)
        assert found.note["ancestors"].rpartition(",")[2].startswith(f"{pid}:")
        assert agent_process(found.note["ancestors"]) == ""

    def test_many_at_once_are_all_recorded(self, folder: Path) -> None:
        command = ["sh", "-c", hook_command("record", folder)]
        hooks = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(40)]
        for number, hook in enumerate(hooks):
            assert hook.stdin
            hook.stdin.write(b"%d" % number)
            hook.stdin.close()
        assert {hook.wait() for hook in hooks} == {0}
        assert sorted(int(each.body) for each in records(folder)) == list(range(40))

    def test_nothing_slow_is_loaded(self, folder: Path) -> None:
        python = [sys.executable, "-S", "-I", "-X", "importtime"]

        def loaded(*arguments: str) -> set[str]:
            lines = subprocess.run([*python, *arguments], input=PAYLOAD, capture_output=True, check=True).stderr
            return {line.rpartition("|")[2].strip() for line in lines.decode().splitlines()}

        own = loaded(str(ENTRY), "record", str(folder)) - loaded("-c", "pass")
        assert own == {*LOADED, "thin_hook", "spool_append"}


class TestTell:
    def test_the_answer_of_somebody_who_drains_is_said_and_told(self, folder: Path) -> None:
        answer = b'{"additionalContext": "' + b"x" * 200_000 + b'"}\n'
        with draining(folder, answer) as heard:
            assert run("tell", folder).stdout == answer
        (found,) = heard
        assert (found.body, found.note["role"]) == (PAYLOAD, "tell")
        assert answers(folder) == [".told"]

    def test_an_empty_answer_says_nothing_and_is_told(self, folder: Path) -> None:
        with draining(folder, b""):
            assert run("tell", folder).stdout == b""
        assert answers(folder) == [".told"]

    def test_nobody_waits_for_ever_for_somebody_who_does_not_answer(self, folder: Path) -> None:
        with draining(folder, None) as heard:
            assert run("tell", folder).stdout == b""
        assert len(heard) == 1

    def test_an_answer_that_can_not_be_said_is_not_told(self, folder: Path) -> None:
        with draining(folder, b"x" * 200_000):
            command = hook_command("tell", folder)
            hook = subprocess.Popen(["sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            assert hook.stdin
            assert hook.stdout
            hook.stdout.close()
            hook.stdin.write(PAYLOAD)
            hook.stdin.close()
            assert hook.wait() == 0
        assert answers(folder) == [".taken"]

    def test_an_answer_never_goes_into_a_file_that_has_the_number_of_a_closed_stream(self, folder: Path) -> None:
        with draining(folder, b"answer") as heard:
            command = f"({hook_command('tell', folder)}) >&-"
            subprocess.run(["sh", "-c", command], input=PAYLOAD, check=True)
        assert [each.body for each in heard] == [PAYLOAD]
        assert all(b"answer" not in path.read_bytes() for path in folder.glob("s*"))

    def test_several_at_once_say_their_own_answers(self, folder: Path) -> None:
        with draining(folder, None) as heard:
            command = ["sh", "-c", hook_command("tell", folder)]
            hooks = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(4)]
            for number, hook in enumerate(hooks):
                assert hook.stdin
                hook.stdin.write(b"%d" % number)
                hook.stdin.close()
                until(lambda count=number + 1: len(heard) == count)  # type: ignore[misc]
                put_answer(folder, heard[number].note["answer"], b"answer %d" % number)
            said = [hook.stdout.read() for hook in hooks if hook.stdout]
            for hook in hooks:
                assert hook.wait() == 0
                assert hook.stdout
                hook.stdout.close()
        assert said == [b"answer %d" % number for number in range(4)]

    def test_one_that_nobody_answers_ends_well(self, folder: Path) -> None:
        command = hook_command("tell", folder)
        assert subprocess.run(["sh", "-c", command], input=b"{}", check=False, capture_output=True).returncode == 0


class TestCall:
    def test_the_server_of_the_tools_finds_the_call_in_a_file_of_its_own(self, folder: Path) -> None:
        with draining(folder, b'{"allow": true}\n'):
            assert run("call", folder).stdout == b'{"allow": true}\n'
        (path,) = (folder / "calls").iterdir()
        note, _, body = path.read_bytes().partition(b"\n")
        assert body == PAYLOAD
        assert b"role=call" in note.split(b"\t")
        assert path.stat().st_mode & 0o777 == 0o600
        assert int(path.name.split("-")[0]) <= time.time_ns()

    @pytest.mark.parametrize("answer", [None, b""])
    def test_it_is_allowed_even_if_whoever_drains_does_not_say_so(self, answer: bytes | None, folder: Path) -> None:
        with draining(folder, answer):
            assert run("call", folder, OWN_CALL).stdout == ALLOWED

    def test_it_is_allowed_if_nobody_drains(self, folder: Path) -> None:
        assert run("call", folder, OWN_CALL).stdout == ALLOWED

    def test_a_folder_that_takes_nothing_is_no_reason_to_ask(self, folder: Path) -> None:
        folder.touch()
        assert run("call", folder, OWN_CALL).stdout == ALLOWED

    def test_the_call_is_recorded_whether_or_not_anybody_drains(self, folder: Path) -> None:
        run("call", folder, b'{"nobody": "knows this"}')
        assert [each.note["role"] for each in records(folder)] == ["call"]


class TestTrouble:
    @pytest.mark.parametrize(
        "arguments", [[], ["record"], ["sing", "/nowhere"], ["record", "relative"], ["record", ""]]
    )
    def test_wrong_arguments(self, arguments: list[str], tmp_path: Path) -> None:
        command = [sys.executable, "-S", "-I", str(ENTRY), *arguments]
        result = subprocess.run(command, input=PAYLOAD, capture_output=True, check=False, cwd=tmp_path)
        assert (result.returncode, result.stdout, result.stderr) == (0, b"", b"")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("role", ["record", "tell", "call"])
    @pytest.mark.parametrize("payload", [b"", b"\n"])
    def test_an_agent_that_says_nothing(self, role: Role, payload: bytes, folder: Path) -> None:
        assert run(role, folder, payload).stdout == b""
        assert not folder.exists()

    @pytest.mark.parametrize("role", ["record", "tell"])
    def test_a_file_in_place_of_the_folder(self, role: Role, folder: Path) -> None:
        folder.touch()
        assert run(role, folder).stdout == b""

    @pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
    def test_closed_streams(self, closed: str, folder: Path) -> None:
        command = f"({hook_command('record', folder)}) {closed}"
        result = subprocess.run(["sh", "-c", command], input=PAYLOAD, capture_output=True, check=False)
        assert (result.returncode, result.stdout, result.stderr) == (0, b"", b"")
        assert [each.body for each in records(folder)] == ([] if "<" in closed else [PAYLOAD])

    def test_a_python_that_is_gone(self, folder: Path) -> None:
        command = hook_command("record", folder).replace(shlex.quote(sys.executable), "/nowhere/python")
        result = subprocess.run(["sh", "-c", command], input=PAYLOAD, capture_output=True, check=False)
        assert (result.returncode, result.stdout, result.stderr) == (0, b"", b"")

    def test_a_planwire_that_is_gone(self, folder: Path) -> None:
        command = hook_command("record", folder).replace(str(ENTRY), "/nowhere/entry.py")
        result = subprocess.run(["sh", "-c", command], input=PAYLOAD, capture_output=True, check=False)
        assert (result.returncode, result.stdout, result.stderr) == (0, b"", b"")

    @pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system does not show processes as files")
    @pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGKILL"])
    def test_one_that_is_ended_in_the_middle(self, name: str, folder: Path) -> None:
        command = ["sh", "-c", hook_command("record", folder)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as shell:
            children = Path(f"/proc/{shell.pid}/task/{shell.pid}/children")
            until(children.read_text)
            hook = int(children.read_text())
            until(lambda: "python" in Path(f"/proc/{hook}/comm").read_text())  # no longer a copy of the shell
            os.kill(hook, signal.Signals[name])
            assert shell.wait() == 0
            assert shell.stdout
            assert shell.stdout.read() == b""


FULL_PROGRAM = """
import os
from pathlib import Path

def tell_now(folder, answer):
    Path(folder, "answers").mkdir()
    Path(folder, "answers", answer).write_text("told")

def ask(folder, note, body):
    os.write(1, note["role"].encode() + body)
"""


@pytest.fixture
def other_entry(tmp_path: Path) -> Path:
    """The entry of another planwire, which has little more than that."""
    for module, text in {
        "hooks/entry": ENTRY.read_text(),
        "hooks/thin_hook": ENTRY.with_name("thin_hook.py").read_text(),
        "hooks/hook_command": FULL_PROGRAM,
        "journal/spool_append": Path(spool_append.__file__).read_text(),
        "journal/codec": "raise SystemExit('the folders of the hook are looked into')",
    }.items():
        path = tmp_path / "other/planwire" / f"{module}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "other/planwire/hooks/entry.py"


class TestFullProgram:
    def run(self, entry: Path, role: str, folder: Path) -> bytes:
        """A hook of another planwire, in a Python that has none."""
        python = sys._base_executable  # type: ignore[attr-defined]
        command = [python, "-S", "-I", str(entry), role, str(folder)]
        result = subprocess.run(command, input=PAYLOAD, capture_output=True, check=True)
        assert result.stderr == b""
        return result.stdout

    def test_a_hook_that_nobody_answers_answers_itself(self, other_entry: Path, folder: Path) -> None:
        assert self.run(other_entry, "tell", folder) == b"told"
        assert answers(folder) == [".told"]
        assert [each.body for each in records(folder)] == [PAYLOAD]

    def test_the_answer_of_a_person_is_said(self, other_entry: Path, folder: Path) -> None:
        assert self.run(other_entry, "ask", folder) == b"ask" + PAYLOAD
        assert [each.body for each in records(folder)] == [PAYLOAD]

    @pytest.mark.parametrize(
        "trouble", ["raise SystemExit(2)", "import nothing_like_that", "def tell_now(): (", "1 / 0"]
    )
    @pytest.mark.parametrize("role", ["tell", "ask"])
    def test_what_goes_wrong_in_it_is_not_heard(self, trouble: str, role: str, other_entry: Path, folder: Path) -> None:
        other_entry.with_name("hook_command.py").write_text(trouble)
        assert self.run(other_entry, role, folder) == b""
        assert [each.body for each in records(folder)] == [PAYLOAD]

    def test_one_that_takes_too_long_ends_as_if_nothing_were_wrong(self, other_entry: Path, folder: Path) -> None:
        other_entry.with_name("hook_command.py").write_text("import time; time.sleep(60)")
        assert self.run(other_entry, "tell", folder) == b""

    def test_it_answers_if_whoever_drained_is_gone_in_the_middle(self, other_entry: Path, folder: Path) -> None:
        lock = Spool(folder).drainer_lock()
        assert lock.acquire()
        said: list[bytes] = []
        hook = Thread(target=lambda: said.append(self.run(other_entry, "tell", folder)))
        hook.start()
        until(lambda: not Spool(folder).is_empty())
        lock.release()
        hook.join()
        assert said == [b"told"]

    def test_it_answers_if_whoever_drains_was_stopped(self, other_entry: Path, folder: Path) -> None:
        with Spool(folder).drainer_lock():
            os.utime(folder / "drainer.lock", (0, 0))
            assert self.run(other_entry, "tell", folder) == b"told"


def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    folder = tmp_path / 'It\'s a "folder" with $HOME; and `more`'
    run("record", folder)
    assert [each.body for each in records(folder)] == [PAYLOAD]
