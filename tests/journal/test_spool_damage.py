"""A damaged spool: what was acknowledged comes out unchanged, or is missed by number; nothing comes out twice."""

import os
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planwire.journal import Once, spool_append
from planwire.journal.away.journal import AwayJournal
from planwire.journal.spool import Lost, Segment, Spool, Spooled
from planwire.journal.verifying import verify
from planwire.model.events import Gap
from tests.journal.outages import Outage, behind, open_server
from tests.journal.test_contract import said, words
from tests.waiting import until

TEXTS = [f"acknowledged {number:02} {'x' * 40}" for number in range(12)]


@pytest.fixture
def away(tmp_path: Path) -> Iterator[AwayJournal]:
    with behind(tmp_path) as journal:
        yield journal


def altered_letter(whole: bytes) -> bytes:
    return whole.replace(b"acknowledged 05", b"acknowledged 95")


def cut_by_a_third(whole: bytes) -> bytes:
    return whole[: len(whole) * 2 // 3]


def cut_between_two_records(whole: bytes) -> bytes:
    return whole[: [place for place, byte in enumerate(whole) if byte == 0x1E][8]]


def garbage(whole: bytes) -> bytes:
    place = whole.index(b"acknowledged 05") - 100
    return whole[:place] + b"\xa5" * 40 + whole[place + 40 :]


def first_half_gone(whole: bytes) -> bytes:
    return whole[len(whole) // 2 :]


def head_zeroed(whole: bytes) -> bytes:
    return bytes(512) + whole[512:]


def second_half_doubled(whole: bytes) -> bytes:
    return whole + whole[len(whole) // 2 :]


DAMAGES = [
    altered_letter,
    cut_by_a_third,
    cut_between_two_records,
    garbage,
    first_half_gone,
    head_zeroed,
    second_half_doubled,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_whatever_happens_to_what_waits_for_a_server_each_record_is_delivered_as_it_was_or_counted_in_a_gap(
    away: AwayJournal, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    outage, path = Outage(tmp_path), tmp_path / "outbox" / "spool"
    outage.begin()
    for each in TEXTS:
        away.append("s", said(each))
    path.write_bytes(damage(path.read_bytes()))
    outage.end()
    until(away.tend)
    with open_server(tmp_path) as server:
        events = [each.event for each in server.read("s")]
        assert verify(server).troubles == []
        delivered = words(server.read("s"))
    lost = sum(each.count for each in events if isinstance(each, Gap))
    assert [each for each in TEXTS if each in delivered] == delivered
    assert len(delivered) + lost == len(TEXTS)


@pytest.mark.parametrize(
    "behind_them", [b"\0", bytes(512), b"half"], ids=["one NUL", "512 NULs", "a record without its first sector"]
)
def test_what_a_power_cut_leaves_behind_acknowledged_records_costs_none_of_them(
    tmp_path: Path, behind_them: bytes
) -> None:
    spool = Spool(tmp_path / "spool")
    path = spool.folder / "spool"
    for body in (b"one", b"two", b"three"):
        assert spool.append({}, body, durable=True)
    if behind_them == b"half":
        length = path.stat().st_size
        assert spool.append({}, b"never acknowledged " * 100, durable=True)
        behind_them = bytes(512) + path.read_bytes()[length + 512 :]
        (spool.folder / "count").unlink(missing_ok=True)
        path.write_bytes(path.read_bytes()[:length])
    path.write_bytes(path.read_bytes() + behind_them)
    assert spool.append({}, b"four", durable=True)
    with (lock := spool.drainer_lock()):
        found = [each for segment in spool.drain(lock) for each in segment]
    assert [each.body for each in found if isinstance(each, Spooled)] == [b"one", b"two", b"three", b"four"]
    assert len(found) == 4


def test_a_loss_is_a_gap_in_each_session_that_it_may_have_been_of(away: AwayJournal, tmp_path: Path) -> None:
    outage, path = Outage(tmp_path), tmp_path / "outbox" / "spool"
    outage.begin()
    for session in ("s", "t", "t", "u"):
        away.append(session, said("one"))
    path.write_bytes(path.read_bytes().replace(b"\x1e", b"?", 1))
    outage.end()
    until(away.tend)
    with open_server(tmp_path) as server:
        assert [each.id for each in server.sessions()] == ["t", "u"]
        for session in "tu":
            [gap] = [each.event for each in server.read(session) if isinstance(each.event, Gap)]
            assert gap.count == 1
            assert "another session" in gap.why


#: What happens to a file: its bytes, and bytes that it had some time before.
Damage = Callable[[bytes, bytes], bytes]
PLACE = st.floats(0, 1)


@st.composite
def damages(draw: st.DrawFn) -> Damage:
    kind = draw(st.sampled_from(["flip", "zero", "cut", "garbage", "insert", "doubled", "older", "head gone"]))
    place, length, rubbish = draw(PLACE), draw(st.integers(1, 600)), draw(st.binary(min_size=1, max_size=40))

    def damage(whole: bytes, older: bytes) -> bytes:
        start = min(int(len(whole) * place), max(0, len(whole) - 1))
        match kind:
            case "flip":
                flipped = bytes(each ^ (1 << length % 8) for each in whole[start : start + 1])
                return whole[:start] + flipped + whole[start + 1 :]
            case "zero":
                return whole[:start] + bytes(len(whole[start : start + length])) + whole[start + length :]
            case "cut":
                return whole[:start]
            case "garbage":
                return whole[:start] + rubbish + whole[start + len(rubbish) :]
            case "insert":
                return whole[:start] + rubbish * 20 + whole[start:]
            case "doubled":
                return whole + whole[start:]
            case "older":
                return older
        return whole[start:]

    return damage


BODIES = st.lists(st.binary(max_size=300) | st.sampled_from([b"", b"\x1e\x1f" * 40, b"x" * 3_000]), max_size=10)


@given(
    before=BODIES,
    after=BODIES,
    found=st.lists(damages(), min_size=1, max_size=3),
    is_sealed=st.booleans(),
    has_count=st.booleans(),
    older=PLACE,
)
@settings(max_examples=400, deadline=None)
def test_whatever_happens_to_a_spool_each_record_comes_out_once_and_unchanged_or_is_counted_as_lost(
    before: list[bytes], after: list[bytes], found: list[Damage], is_sealed: bool, has_count: bool, older: float
) -> None:
    with TemporaryDirectory() as name:
        spool, versions = Spool(Path(name)), [b""]
        path = spool.folder / "spool"

        def append(bodies: list[bytes], first: int) -> None:
            for number, body in enumerate(bodies, first):
                assert spool.append({"number": str(number)}, body, durable=number % 2 == 0)
                versions.append(path.read_bytes())

        append(before, 0)
        with (lock := spool.drainer_lock()):
            segment = next(spool.drain(lock), None) if is_sealed else None
            target = spool.folder / segment.name if segment else path
            for damage in found if before else ():
                target.write_bytes(damage(target.read_bytes(), versions[int(len(before) * older)]))
            if not has_count:
                (spool.folder / "count").unlink(missing_ok=True)
            append(after, len(before))
            given = [each for segment in spool.drain(lock) for each in drained(segment)]
    check(given, before + after, is_exact=has_count or is_sealed)


def drained(segment: Segment) -> list[Spooled | Lost]:
    found = list(segment)
    segment.done()
    return found


def check(found: list[Spooled | Lost], bodies: list[bytes], *, is_exact: bool) -> None:
    whole = [(int(each.note["number"]), each.body) for each in found if isinstance(each, Spooled)]
    assert all(one < other for (one, _), (other, _) in pairwise(whole))
    assert all(bodies[number] == body for number, body in whole)
    lost = sum(each.count for each in found if isinstance(each, Lost))
    if is_exact:
        assert len(whole) + lost == len(bodies)
    keys = [each.key for each in found]
    assert len(set(keys)) == len(keys)


@given(count=st.binary(max_size=60), mark=st.binary(max_size=60), drained_before=st.integers(0, 4))
@settings(max_examples=100, deadline=None)
def test_whatever_stands_in_the_files_beside_a_spool_no_record_of_it_is_lost_or_doubled(
    count: bytes, mark: bytes, drained_before: int
) -> None:
    with TemporaryDirectory() as name:
        spool = Spool(Path(name))
        for number in range(4):
            assert spool.append({"number": str(number)}, b"%d" % number)
            if number == 2:
                (spool.folder / "count").write_bytes(count)
        with (lock := spool.drainer_lock()):
            [segment] = spool.drain(lock)
            for each in list(segment)[:drained_before]:
                segment.note_drained(each)
            left = [each.key.n for each in segment]
            (spool.folder / "drained").write_bytes(mark)
            check(list(segment), [b"0", b"1", b"2", b"3"], is_exact=True)
    assert left == [1, 2, 3, 4][drained_before:]


def test_an_older_copy_of_a_spool_that_was_drained_gives_the_same_records_under_the_same_keys(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    path = spool.folder / "spool"
    for number in range(3):
        spool.append({}, b"%d" % number)
    older = path.read_bytes()
    spool.append({}, b"3")
    with (lock := spool.drainer_lock()):
        [first] = [drained(segment) for segment in spool.drain(lock)]
        path.write_bytes(older)
        [again] = [drained(segment) for segment in spool.drain(lock)]
    assert again == first[:3]
    assert first[0].key == Once(first[0].key.source, 1)


@pytest.mark.parametrize("left", [0.0, 0.3, 0.9])
def test_a_record_of_a_writer_whose_turn_did_not_come_is_counted_as_lost_if_it_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: float
) -> None:
    monkeypatch.setattr(spool_append, "_PATIENCE", 0.01)
    spool = Spool(tmp_path / "spool")
    assert spool.append({"number": "0"}, b"0")
    handle = spool_append.locked(str(spool.folder / "spool"))
    assert handle is not None
    assert spool.append({"number": "1"}, b"1" * 100)
    os.close(handle)
    [late] = spool.folder.glob("late-*")
    os.truncate(late, int(late.stat().st_size * left))
    with (lock := spool.drainer_lock()):
        found = [each for segment in spool.drain(lock) for each in drained(segment)]
    check(found, [b"0", b"1" * 100], is_exact=True)
    assert isinstance(found[-1], Lost)


@pytest.mark.parametrize("damage", [cut_by_a_third, lambda whole: b"?" + whole[1:]])
def test_signs_of_what_found_no_room_are_counted_though_they_are_damaged(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    spool = Spool(tmp_path / "spool")
    for number in range(4):
        assert not spool.append({}, b"%d" % number * 600, most=0)
    overflow = spool.folder / "overflow"
    overflow.write_bytes(damage(overflow.read_bytes()))
    with (lock := spool.drainer_lock()):
        found = [each for segment in spool.drain(lock) for each in drained(segment)]
    assert sum(each.count for each in found if isinstance(each, Lost)) >= 3
