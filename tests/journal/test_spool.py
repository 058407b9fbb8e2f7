"""A spool: what is appended comes out once, in order and whole, whoever is killed; and what is lost is known."""

import errno
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.journal import drainer_lock, spool_append
from planwire.journal.drainer_lock import DrainerLock
from planwire.journal.spool import Lost, Spool, Spooled, read_note
from planwire.journal.spool_append import MOST_IN_A_RECORD, encode_note, is_drained, locked, make_folder, put
from tests.waiting import until

HEAD_BYTES = 512


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "journal.db-hooks")


@pytest.fixture
def lock(spool: Spool) -> Iterator[DrainerLock]:
    lock = spool.drainer_lock()
    assert lock.acquire()
    yield lock
    lock.release()


def drained(spool: Spool, lock: DrainerLock) -> list[Spooled | Lost]:
    """All that is in a spool, which then is empty."""
    found: list[Spooled | Lost] = []
    for segment in spool.drain(lock):
        found += segment
        segment.done()
    return found


def bodies(found: list[Spooled | Lost]) -> list[bytes]:
    return [each.body for each in found if isinstance(each, Spooled)]


def lost(found: list[Spooled | Lost]) -> list[Lost]:
    return [each for each in found if isinstance(each, Lost)]


class TestOrder:
    def test_records_come_out_as_they_went_in(self, spool: Spool, lock: DrainerLock) -> None:
        for number in range(20):
            assert spool.append({"role": "record", "number": str(number)}, b"body %d" % number)
        found = [each for each in drained(spool, lock) if isinstance(each, Spooled)]
        assert bodies(list(found)) == [b"body %d" % number for number in range(20)]
        assert [each.note for each in found] == [{"role": "record", "number": str(number)} for number in range(20)]
        assert [each.key.n for each in found] == list(range(1, 21))
        assert len({each.key.source for each in found}) == 1
        assert sorted(each.at for each in found) == [each.at for each in found]

    def test_a_spool_is_empty_until_something_is_appended_and_after_it_was_drained(self, spool: Spool) -> None:
        assert spool.is_empty()
        spool.append({}, b"body")
        assert not spool.is_empty()
        lock = spool.drainer_lock()
        with lock:
            assert bodies(drained(spool, lock)) == [b"body"]
        assert spool.is_empty()

    def test_keys_of_two_segments_differ(self, spool: Spool, lock: DrainerLock) -> None:
        spool.append({}, b"first")
        (first,) = drained(spool, lock)
        spool.append({}, b"second")
        (second,) = drained(spool, lock)
        assert first.key != second.key

    def test_a_file_without_records_is_removed(self, spool: Spool, lock: DrainerLock) -> None:
        (spool.folder / "spool").touch()
        assert not spool.is_empty()
        assert drained(spool, lock) == []
        assert spool.is_empty()

    def test_only_their_owner_can_read_folder_and_files(self, spool: Spool, lock: DrainerLock) -> None:
        spool.append({}, b"body")
        spool.append({}, b"body", most=0)
        assert spool.folder.stat().st_mode & 0o777 == 0o700
        assert {path.stat().st_mode & 0o777 for path in spool.folder.iterdir()} == {0o600}


def test_no_folder_that_is_made_around_a_spool_can_be_entered_by_others(tmp_path: Path) -> None:
    folder = tmp_path / "share" / "planwire" / "spool"
    assert make_folder(str(folder))
    assert [stat.S_IMODE(each.stat().st_mode) for each in (folder, *folder.parents[:2])] == [0o700] * 3
    assert not make_folder(str(folder))


@given(st.dictionaries(st.text("abc", min_size=1), st.text(st.characters(exclude_characters="\t\n"))))
def test_a_note_is_read_as_it_was_written(note: dict[str, str]) -> None:
    expected = {key: value.encode("utf-8", "replace").decode() for key, value in note.items()}
    assert read_note(encode_note(note)) == expected


@given(st.dictionaries(st.text("abc", min_size=1), st.text()))
def test_no_value_of_a_note_gets_into_another_field(note: dict[str, str]) -> None:
    line = encode_note(note)
    assert b"\n" not in line
    assert list(read_note(line)) == list(note)


#: What somebody would put into a body to pass it off as records: whole ones, beginnings, ends, and escapes.
FORGED = b"\x1e1794850000000 1 6\nn\nforged\n"
HOSTILE = st.lists(
    st.sampled_from([b"\x1e", b"\x1f", b"\x1f^", b"\x1f_", b"\n", b" ", b"^", FORGED, FORGED[:-1], FORGED[1:]])
    | st.binary(max_size=8),
    max_size=12,
).map(b"".join)
#: A body, and after how much of its record the writer is killed; None if it is not.
WRITTEN = st.lists(st.tuples(HOSTILE, st.none() | st.floats(0, 1, exclude_max=True)), max_size=12)


@given(WRITTEN)
def test_whatever_bodies_hold_and_whoever_is_killed_every_other_record_is_whole(
    written: list[tuple[bytes, float | None]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        spool = Spool(Path(folder) / "spooled")
        path = spool.folder / "spool"
        for number, (body, killed) in enumerate(written):
            before = path.stat().st_size if path.exists() else 0
            assert spool.append({"number": str(number)}, body)
            if killed is not None:
                kept = int((path.stat().st_size - before - 1) * killed)  # the last byte is not needed
                os.truncate(path, before + kept)
        with (lock := spool.drainer_lock()):
            found = drained(spool, lock)
    whole = [(str(number), body) for number, (body, killed) in enumerate(written) if killed is None]
    assert [(each.note["number"], each.body) for each in found if isinstance(each, Spooled)] == whole
    assert sum(each.count for each in lost(found)) == len(written) - len(whole)


class TestTornRecords:
    def test_what_is_left_of_a_torn_one_tells_whose_it_was(self, spool: Spool, lock: DrainerLock) -> None:
        body = b'{"session_id": "abc", "text": "' + b"x" * 2_000 + b'"}'
        spool.append({"role": "record"}, body)
        os.truncate(spool.folder / "spool", 1_500)
        spool.append({}, b"next")
        found = drained(spool, lock)
        assert bodies(found) == [b"next"]
        assert [(each.note, each.head, each.count) for each in lost(found)] == [
            ({"role": "record"}, body[:HEAD_BYTES], 1)
        ]

    def test_one_that_ends_in_its_note_has_none(self, spool: Spool, lock: DrainerLock) -> None:
        spool.append({"answer": "abcdef"}, b"body")
        os.truncate(spool.folder / "spool", (spool.folder / "spool").read_bytes().index(b"def"))
        (torn,) = lost(drained(spool, lock))
        assert (torn.note, torn.head) == ({}, b"")

    @pytest.mark.parametrize("damage", [b"\0" * 100, b"1 1 1", b"\x1e", b"\x1e-1 1 1\n\n\n", b"\x1e1 1 99999999999\nx"])
    def test_damage_between_records_costs_nothing(self, damage: bytes, spool: Spool, lock: DrainerLock) -> None:
        for each in (b"first", b"second"):
            spool.append({}, each)
        path = spool.folder / "spool"
        second = path.read_bytes().rindex(b"\x1e")
        whole = path.read_bytes()
        path.write_bytes(whole[:second] + b"\x1e" + damage + whole[second:])
        found = drained(spool, lock)
        assert bodies(found) == [b"first", b"second"]
        assert not lost(found)


class TestDrainers:
    def test_only_one_of_two_can_drain(self, spool: Spool) -> None:
        spool.append({}, b"body")
        first, second = spool.drainer_lock(), spool.drainer_lock()
        assert first.acquire()
        assert not second.acquire()
        assert drained(spool, second) == []
        first.release()
        assert second.acquire()
        assert bodies(drained(spool, second)) == [b"body"]
        second.release()

    def test_one_that_was_killed_has_the_lock_no_longer(self, spool: Spool) -> None:
        code = (
            "import sys, pathlib\nfrom planwire.journal.spool import Spool\n"
            "lock = Spool(pathlib.Path(sys.argv[1])).drainer_lock()\nprint(lock.acquire(), flush=True)\ninput()"
        )
        command = [sys.executable, "-c", code, str(spool.folder)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout
            assert other.stdout.readline() == "True\n"
            assert not spool.drainer_lock().acquire()
            other.kill()
        with spool.drainer_lock() as is_held:
            assert is_held

    def test_a_fork_of_one_does_not_keep_the_lock(self, spool: Spool) -> None:
        code = (
            "import os, sys, pathlib\nfrom planwire.journal.spool import Spool\n"
            "lock = Spool(pathlib.Path(sys.argv[1])).drainer_lock()\nassert lock.acquire()\n"
            "if os.fork():\n    print('forked', flush=True)\n    os._exit(0)\n"
            "assert not lock.is_held\ninput()"
        )
        command = [sys.executable, "-c", code, str(spool.folder)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout
            assert other.stdout.readline() == "forked\n"
            other.wait()
            until(spool.drainer_lock().acquire)

    def test_a_removed_folder_takes_the_lock_with_it(self, spool: Spool, lock: DrainerLock) -> None:
        for path in spool.folder.iterdir():
            path.unlink()
        spool.folder.rmdir()
        assert not lock.is_held
        spool.append({}, b"body")
        assert drained(spool, lock) == []
        assert lock.acquire()
        assert bodies(drained(spool, lock)) == [b"body"]

    def test_one_that_was_stopped_loses_the_lock_to_the_next(self, spool: Spool, lock: DrainerLock) -> None:
        spool.append({}, b"body")
        (segment,) = spool.drain(lock)
        begun = list(segment)
        os.utime(spool.folder / "drainer.lock", (0, 0))  # a while passes
        assert not is_drained(str(spool.folder))
        next_one, too_late = spool.drainer_lock(), spool.drainer_lock()
        assert next_one.acquire()
        assert is_drained(str(spool.folder))
        assert not too_late.acquire()
        assert not lock.acquire()
        assert drained(spool, lock) == []
        assert drained(spool, next_one) == begun
        segment.done()
        next_one.release()

    def test_one_that_keeps_looking_keeps_the_lock(
        self, spool: Spool, lock: DrainerLock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(drainer_lock, "_BEAT", 0.0)
        os.utime(spool.folder / "drainer.lock", (0, 0))
        assert lock.acquire()
        assert is_drained(str(spool.folder))
        assert not spool.drainer_lock().acquire()
        assert lock.is_held

    def test_of_many_that_want_a_stale_lock_one_gets_it(self, spool: Spool, lock: DrainerLock) -> None:
        for _ in range(20):
            os.utime(spool.folder / "drainer.lock", (0, 0))
            many = [spool.drainer_lock() for _ in range(8)]
            threads = [Thread(target=each.acquire) for each in many]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert sum(each.is_held for each in many) <= 1
            assert is_drained(str(spool.folder)) == any(each.is_held for each in many)
            for each in many:
                each.release()

    def test_a_segment_stays_until_it_is_done(self, spool: Spool, lock: DrainerLock) -> None:
        spool.append({}, b"first")
        (segment,) = spool.drain(lock)
        given_first = list(segment)
        spool.append({}, b"second")
        assert not spool.is_empty()
        first, second = drained(spool, lock)
        assert [first] == given_first
        assert bodies([second]) == [b"second"]
        assert spool.is_empty()

    def test_nothing_new_is_taken_over_while_a_segment_is_not_done(self, spool: Spool, lock: DrainerLock) -> None:
        spool.append({}, b"first")
        assert len(list(spool.drain(lock))) == 1
        spool.append({}, b"second")
        assert len(list(spool.drain(lock))) == 1
        assert (spool.folder / "spool").exists()

    def test_a_writer_that_waited_while_the_file_was_taken_over_writes_to_the_next(
        self, spool: Spool, lock: DrainerLock
    ) -> None:
        spool.append({}, b"first")
        path = spool.folder / "spool"
        handle = locked(str(path))
        assert handle is not None
        thread = Thread(target=spool.append, args=({}, b"second"))
        thread.start()
        until(lambda: times_open(path) > 1)
        (spool.folder / "count").unlink()
        path.rename(spool.folder / "sealed-00000000000000000001-00000000")
        os.close(handle)
        thread.join()
        first, second = drained(spool, lock)
        assert bodies([first, second]) == [b"first", b"second"]
        assert first.key.source != second.key.source

    def test_nothing_is_lost_while_many_append_and_one_drains(self, spool: Spool, lock: DrainerLock) -> None:
        def write(writer: int) -> None:
            for number in range(50):
                assert spool.append({}, b"%d %d" % (writer, number))

        writers = [Thread(target=write, args=(writer,)) for writer in range(8)]
        for each in writers:
            each.start()
        found = []
        while any(each.is_alive() for each in writers):
            found += bodies(drained(spool, lock))
        found += bodies(drained(spool, lock))
        for writer in range(8):
            own = [body for body in found if body.startswith(b"%d " % writer)]
            assert own == [b"%d %d" % (writer, number) for number in range(50)]


def times_open(path: Path) -> int:
    """How many handles of a file this process has."""
    return sum(handle.resolve() == path for handle in Path("/proc/self/fd").iterdir())


class TestBounds:
    def test_a_full_spool_leaves_a_sign_of_what_it_does_not_take(self, spool: Spool, lock: DrainerLock) -> None:
        body = b'{"session_id": "abc"}' + b"x" * 1_000
        assert spool.append({}, b"first", most=200)
        assert not spool.append({"role": "record"}, body, most=200)
        assert not spool.append({"role": "record"}, body, most=200)
        assert spool.append({}, b"last", most=200)
        found = drained(spool, lock)
        assert bodies(found) == [b"first", b"last"]
        (sign,) = lost(found)
        assert (sign.head, sign.count, sign.note) == (body[:HEAD_BYTES], 2, {"role": "record"})
        assert spool.is_empty()

    def test_the_signs_are_bounded_too(self, spool: Spool, lock: DrainerLock, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(spool_append, "MOST_OVERFLOW", 2_000)
        for number in range(10):
            assert not spool.append({}, b"%d" % number * 600, most=0)
        assert (spool.folder / "overflow").stat().st_size <= 2_000
        assert [each.head[:1] for each in lost(drained(spool, lock))] == [b"0", b"1", b"2"]

    def test_a_record_that_is_too_long_is_lost_but_not_unnoticed(self, spool: Spool, lock: DrainerLock) -> None:
        assert not spool.append({}, b"x" * (MOST_IN_A_RECORD + 1))
        (sign,) = drained(spool, lock)
        assert isinstance(sign, Lost)
        assert sign.head == b"x" * HEAD_BYTES

    def test_a_long_record_is_whole(self, spool: Spool, lock: DrainerLock) -> None:
        body = os.urandom(1 << 20) * 20
        assert spool.append({}, b"before")
        assert spool.append({}, body)
        assert spool.append({}, b"after")
        before, long, after = bodies(drained(spool, lock))
        assert (before, after) == (b"before", b"after")
        assert long == body

    def test_a_writer_that_was_stopped_in_the_middle_does_not_keep_others_for_ever(
        self, spool: Spool, lock: DrainerLock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(spool_append, "_PATIENCE", 0.02)
        spool.append({}, b"first")
        handle = locked(str(spool.folder / "spool"))
        assert handle is not None
        for body in (b"second", b"third"):
            assert spool.append({}, body)
        assert not spool.is_empty()
        assert bodies(drained(spool, lock)) == [b"second", b"third"]
        os.close(handle)
        assert bodies(drained(spool, lock)) == [b"first"]

    def test_durable_records_keep_their_order_though_one_had_to_wait_for_its_turn(
        self, spool: Spool, lock: DrainerLock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(spool_append, "_PATIENCE", 0.02)
        assert spool.append({}, b"first", durable=True)
        handle = locked(str(spool.folder / "spool"))
        assert handle is not None
        assert spool.append({}, b"second", durable=True)
        os.close(handle)
        assert spool.append({}, b"third", durable=True)
        assert bodies(drained(spool, lock)) == [b"first", b"second", b"third"]

    def test_durable_records_are_kept_where_a_folder_can_not_be_synced(
        self, spool: Spool, lock: DrainerLock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def sync(handle: int) -> None:
            if stat.S_ISDIR(os.fstat(handle).st_mode):
                raise OSError(errno.EINVAL, "this file system has no way to")

        monkeypatch.setattr(spool_append, "_PATIENCE", 0.02)
        monkeypatch.setattr(os, "fsync", sync)
        assert spool.append({}, b"first", durable=True)
        handle = locked(str(spool.folder / "spool"))
        assert handle is not None
        assert spool.append({}, b"second", durable=True)
        os.close(handle)
        assert bodies(drained(spool, lock)) == [b"first", b"second"]

    def test_writers_whose_turn_does_not_come_do_not_fill_the_folder(
        self, spool: Spool, lock: DrainerLock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(spool_append, "_PATIENCE", 0.0)
        monkeypatch.setattr(spool_append, "_MOST_LATE", 2)
        spool.append({}, b"first")
        handle = locked(str(spool.folder / "spool"))
        assert handle is not None
        kept = [spool.append({}, b"%d" % number) for number in range(5)]
        os.close(handle)
        assert kept == [True, True, False, False, False]
        found = drained(spool, lock)
        assert bodies(found) == [b"first", b"0", b"1"]
        assert [each.head for each in lost(found)] == [b"2", b"3", b"4"]


class TestDrafts:
    def test_one_that_a_killed_writer_left_goes_with_the_next_file_that_is_put_there(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Killed(BaseException):
            pass

        def kill(_: int) -> None:
            raise Killed

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", kill)
            for name in ("old", "new"):
                with pytest.raises(Killed):
                    put(str(tmp_path), name, b"", durable=True)
        [old], [new] = tmp_path.glob(".old*"), tmp_path.glob(".new*")
        theirs = tmp_path / ".theirs-0123abcd"
        theirs.touch()
        for each in (old, theirs):
            os.utime(each, (0, 0))
        put(str(tmp_path), "next", b"")
        assert {*tmp_path.iterdir()} == {tmp_path / "next", new, theirs}


class TestTrouble:
    def test_a_file_in_place_of_the_folder_takes_nothing(self, tmp_path: Path) -> None:
        (tmp_path / "hooks").touch()
        spool = Spool(tmp_path / "hooks")
        assert not spool.append({}, b"body")
        assert not spool.drainer_lock().acquire()
        assert spool.is_empty()

    def test_no_link_is_followed(self, spool: Spool, tmp_path: Path) -> None:
        spool.folder.mkdir()
        (tmp_path / "elsewhere").touch()
        (spool.folder / "spool").symlink_to(tmp_path / "elsewhere")
        assert not spool.append({}, b"body")
        assert (tmp_path / "elsewhere").read_bytes() == b""

    def test_half_a_write_is_taken_back(self, spool: Spool, lock: DrainerLock) -> None:
        """The system's limit on the size of a file makes a write short, and the next one fail."""
        code = (
            "import pathlib, resource, sys\nfrom planwire.journal.spool import Spool\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))\n"
            "spool = Spool(pathlib.Path(sys.argv[1]))\n"
            "print(*(spool.append({}, b'%d' % number * size) for number, size in enumerate((8_000, 5_000, 100))))"
        )
        command = [sys.executable, "-c", code, str(spool.folder)]
        assert subprocess.check_output(command, text=True) == "True False True\n"
        found = drained(spool, lock)
        assert bodies(found) == [b"0" * 8_000, b"2" * 100]
        assert [each.head for each in lost(found)] == [b"1" * HEAD_BYTES]

    def test_a_full_disk_loses_nothing_that_was_there_and_leaves_a_sign(self) -> None:
        code = """
import os, sys
from pathlib import Path
from planwire.journal.spool import Lost, Spool
spool = Spool(Path(sys.argv[1]) / "hooks")
assert spool.append({}, b"first")
with open(Path(sys.argv[1]) / "filler", "wb", buffering=0) as filler:
    for size in (4096, 1):
        try:
            while filler.write(b"x" * size) == size:
                pass
        except OSError:
            pass
assert not spool.append({}, b"second" * 10_000)
assert not (spool.folder / "reserve").exists()
(Path(sys.argv[1]) / "filler").unlink()
assert spool.append({}, b"third")
lock = spool.drainer_lock()
assert lock.acquire()
for segment in spool.drain(lock):
    for each in segment:
        print("lost" if isinstance(each, Lost) else "kept", each.head[:6] if isinstance(each, Lost) else each.body)
    segment.done()
assert (spool.folder / "reserve").exists()
"""
        assert run_on_a_small_disk(code, "size=128k") == "kept b'first'\nkept b'third'\nlost b'second'\n"

    def test_a_read_only_file_system_takes_nothing(self) -> None:
        code = """
import sys
from pathlib import Path
from planwire.journal.spool import Spool
spool = Spool(Path(sys.argv[1]) / "hooks")
print(spool.append({}, b"body"), spool.drainer_lock().acquire(), spool.is_empty())
"""
        assert run_on_a_small_disk(code, "ro") == "False False True\n"


def run_on_a_small_disk(code: str, options: str) -> str:
    """What some Python prints that gets the folder of a file system of its own, which nobody else sees."""
    with tempfile.TemporaryDirectory() as folder:
        mount = f'mount -t tmpfs -o {options} tmpfs "$1"'
        inside = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
        try:
            subprocess.run([*inside, mount, "sh", folder], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"nothing can be mounted here: {error}")
        command = [*inside, f'{mount} && exec "$2" -c "$3" "$1"', "sh", folder, sys.executable, code]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert result.stderr == ""
        return result.stdout
