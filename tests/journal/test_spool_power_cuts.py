"""Power cuts: whatever the disk had taken of a spool, every durable record that was acknowledged is drained, once."""

import os
import random
from pathlib import Path

import pytest

from planwire.journal import Once
from planwire.journal.spool import Lost, Spool, Spooled
from tests.journal.simulated_disk import SimulatedDisk

CUTS = 400


def body(number: int, draw: random.Random) -> bytes:
    return b"%d " % number + bytes(draw.choices(b"ab\x1e\x1f\n", k=draw.choice([0, 30, 600, 3_000])))


@pytest.mark.parametrize("seed", range(4))
def test_no_power_cut_costs_or_doubles_what_was_acknowledged(tmp_path: Path, seed: int) -> None:
    draw, torn = random.Random(seed), 0
    for cut in range(CUTS // 4):
        before, after = tmp_path / f"{cut}" / "spool", tmp_path / f"{cut} after" / "spool"
        acknowledged: dict[int, bytes] = {}
        given: dict[Once, bytes] = {}
        with pytest.MonkeyPatch.context() as patch:
            before.mkdir(parents=True)
            disk, spool = SimulatedDisk(before, patch), Spool(before, in_order=True)
            for number in range(draw.randint(0, 12)):
                if draw.random() < 0.2:
                    drain(spool, given, draw)
                acknowledged[number] = body(number, draw)
                assert spool.append({}, acknowledged[number], durable=True)
            if draw.random() < 0.8:  # the power goes before this one is synced
                patch.setattr(os, "fsync", lambda handle: give_up())
                with pytest.raises(PowerCut):
                    Spool(before).append({}, b"never acknowledged" * 100, durable=True)
            files = disk.after_a_cut(draw)
        after.mkdir(parents=True)
        for name, content in files.items():
            (after / name).write_bytes(content)
        spool = Spool(after, in_order=True)
        acknowledged[99] = b"after the cut"
        assert spool.append({}, acknowledged[99], durable=True)
        lost = drain(spool, given)
        torn += bool(lost)
        found = [each for each in given.values() if not each.startswith(b"never")]
        assert found == [*acknowledged.values()]
        assert sum(each.count for each in lost) <= 1  # the one that was under way
    assert torn < CUTS // 4


class PowerCut(BaseException):
    """The process is gone with its machine."""


def give_up() -> None:
    raise PowerCut


def drain(spool: Spool, given: dict[Once, bytes], draw: random.Random | None = None) -> list[Lost]:
    """Drain a spool, noting what it gives by its keys. With `draw`, the drainer may be killed."""
    lost: list[Lost] = []
    with (lock := spool.drainer_lock()):
        for segment in spool.drain(lock):
            for each in segment:
                if isinstance(each, Spooled):
                    assert given.setdefault(each.key, each.body) == each.body
                    segment.note_drained(each)
                else:
                    lost.append(each)
                if draw and draw.random() < 0.05:
                    return lost
            segment.done()
    return lost
