"""A spool whose writers and drainers are killed at every step: nothing that was acknowledged is lost, nothing comes
twice, and order is kept."""

import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from planwire.hooks.command_line import hook_command
from planwire.journal import spool_append
from planwire.journal.spool import Spool, Spooled
from tests.waiting import until

pytestmark = [pytest.mark.torture, pytest.mark.timeout(300)]

#: Kills itself when it comes to the step of that number: each call of the system is one, and half a write.
MORTAL = """
import os, signal, sys
from pathlib import Path
from planwire.journal.spool import Lost, Spool

spool, last = Spool(Path(sys.argv[1])), int(sys.argv[2])
steps = 0
write = os.write

def dies_here():
    global steps
    steps += 1
    if steps == last:
        os.kill(os.getpid(), signal.SIGKILL)

def mortal(function):
    def called(*arguments, **options):
        dies_here()
        return function(*arguments, **options)
    return called

def write_in_halves(handle, data):
    dies_here()
    done = write(handle, data[: len(data) // 2])
    dies_here()
    return done + write(handle, data[done:])

for name in ("open", "close", "fstat", "stat", "rename", "unlink", "mkdir", "listdir"):
    setattr(os, name, mortal(getattr(os, name)))
os.write = write_in_halves
"""
APPEND = """
spool.append({}, b"mortal")
write(1, b"ok")
"""
DRAIN = """
lock = spool.drainer_lock()
lock.acquire()
for segment in spool.drain(lock):
    for each in segment:
        dies_here()
        if not isinstance(each, Lost):
            write(1, b"%b %d %b\\n" % (each.key.source.encode(), each.key.n, each.body))
    segment.done()
lock.release()
write(1, b"end\\n")
"""
APPENDER = str(Path(spool_append.__file__).parent)
#: Appends without end, and says each number that it has appended.
WRITER = """
import sys, os
sys.path.append(sys.argv[3])
from spool_append import append
number = int(sys.argv[2])
while True:
    body = b"%d %d " % (int(sys.argv[4]), number)
    assert append(sys.argv[1], b"", body + b"x\\x1e" * (number * 7919 % 30_000))
    os.write(1, b"%d\\n" % number)
    number += 1
"""


def run(code: str, folder: Path, step: int) -> bytes:
    command = [sys.executable, "-c", MORTAL + code, str(folder), str(step)]
    return subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout


def drained(folder: Path) -> Iterator[Spooled]:
    spool = Spool(folder)
    lock = spool.drainer_lock()
    until(lock.acquire)
    for segment in spool.drain(lock):
        yield from (each for each in segment if isinstance(each, Spooled))
        segment.done()
    lock.release()


def test_a_writer_that_is_killed_at_any_step_costs_at_most_its_own_record(tmp_path: Path) -> None:
    for step in count(1):
        folder = tmp_path / str(step)
        spool = Spool(folder)
        if step % 2:
            assert spool.append({}, b"before")
        is_acknowledged = run(APPEND, folder, step) == b"ok"
        assert spool.append({}, b"after")
        found = [each.body for each in drained(folder)]
        expected = [b"before"] * (step % 2) + [b"mortal"] * (b"mortal" in found) + [b"after"]
        assert found == expected
        if is_acknowledged:
            assert b"mortal" in found
            break
    assert step > 8


def test_a_drainer_that_is_killed_at_any_step_costs_nothing(tmp_path: Path) -> None:
    for step in count(1):
        folder = tmp_path / str(step)
        spool = Spool(folder)
        for number in range(3):
            assert spool.append({}, b"record %d" % number)
        assert not spool.append({}, b"too much", most=0)
        said = run(DRAIN, folder, step).splitlines()
        assert spool.append({}, b"record 3")
        is_whole = said[-1:] == [b"end"]
        lines = said[: len(said) - is_whole] + [
            b"%b %d %b" % (each.key.source.encode(), each.key.n, each.body) for each in drained(folder)
        ]
        assert [line.split(maxsplit=2)[2] for line in dict.fromkeys(lines)] == [
            b"record %d" % number for number in range(4)
        ]
        if is_whole:
            break
    assert step > 15


def test_writers_and_drainers_that_are_killed_again_and_again_lose_nothing(tmp_path: Path) -> None:
    moments = random.Random(16)
    folder, journal = tmp_path / "hooks", tmp_path / "journal"
    first_numbers = [0] * 4
    acknowledged: set[tuple[int, int]] = set()
    with journal.open("wb", buffering=0) as file:
        for _ in range(40):
            writers = [start_writer(folder, writer, first) for writer, first in enumerate(first_numbers)]
            file.write(b"\n")
            drainer = subprocess.Popen([sys.executable, "-c", MORTAL + DRAIN, str(folder), "-1"], stdout=file)
            for process in moments.sample([*writers, drainer], 5):
                with suppress(subprocess.TimeoutExpired):
                    process.wait(moments.random() / 10)
                process.kill()
            drainer.wait()
            for writer, process in enumerate(writers):
                said = [int(line) for line in process.communicate()[0].rpartition(b"\n")[0].split()]
                acknowledged |= {(writer, number) for number in said}
                first_numbers[writer] += len(said) + 1  # one may be there without a word
        for each in drained(folder):
            file.write(b"%b %d %b\n" % (each.key.source.encode(), each.key.n, each.body))
    found = recorded_once(journal)
    assert len(acknowledged) > 200
    assert acknowledged <= set(found)
    assert len(found) == len(set(found))
    for writer in range(4):
        own = [number for each, number in found if each == writer]
        assert own == sorted(own)


def start_writer(folder: Path, writer: int, first: int) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-S", "-I", "-c", WRITER, str(folder), str(first), APPENDER, str(writer)]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def recorded_once(journal: Path) -> list[tuple[int, int]]:
    """The writers and numbers of the records that drainers gave, each key once."""
    found: dict[tuple[bytes, bytes], tuple[int, int]] = {}
    for line in journal.read_bytes().split(b"\n"):
        if line.count(b" ") >= 4:
            source, n, writer, number, _ = line.split(b" ", 4)
            found.setdefault((source, n), (int(writer), int(number)))
    return list(found.values())


def test_a_thousand_hooks_at_once_are_all_recorded(tmp_path: Path) -> None:
    folder = tmp_path / "hooks"
    command = hook_command("record", folder)
    shell = f"for number in $(seq 1000); do (echo $number | {command}) & done; wait"
    found: list[int] = []
    with subprocess.Popen(["sh", "-c", shell]) as hooks:
        while hooks.poll() is None:
            found += [int(each.body) for each in drained(folder)]
        assert hooks.returncode == 0
    found += [int(each.body) for each in drained(folder)]
    assert sorted(found) == list(range(1, 1001))
