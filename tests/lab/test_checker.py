"""The checker of histories finds each broken promise."""

import pytest

from tests.lab.checker import broken
from tests.lab.client import SHARED, over
from tests.lab.history import Call, Done, Ended, Heard, Line

S = SHARED[0]
KEPT = {S: [(1, "a.1.0"), (2, "a.2.0"), (3, "a.2.1"), (4, "a.3.0")], "own": [(1, "a.9.0")]}
HISTORY: list[Line] = [
    Call("a", 1, "blind", S, ("a.1.0",)),
    Done("a", 1, "ok", (1,)),
    Call("a", 2, "expected", S, ("a.2.0", "a.2.1"), expected=1),
    Done("a", 2, "ok", (2, 3)),
    Call("a", 3, "once", S, ("a.3.0",)),
    Done("a", 3, "unknown"),
    Call("a", 4, "blind", S, ("a.4.0",)),
    Done("a", 4, "refused"),
    Call("a", 5, "blind", "own", ("a.5.0",)),
    Done("a", 5, "ok", (1,)),
    Call("a", 6, "forget", "own"),
    Done("a", 6, "ok"),
    Call("a", 9, "blind", "own", ("a.9.0",)),
    Done("a", 9, "ok", (1,)),
    Call("a", 10, "lease", "leased", ("a.10",)),
    Done("a", 10, "ok"),
    *(Heard("f", seq, S, seq, token) for seq, token in KEPT[S]),
    Heard("f", 5, "own", 1, "a.9.0"),
]


def test_nothing_is_wrong_with_a_history_that_kept_all_promises() -> None:
    assert broken(HISTORY, KEPT) == []


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([(1, "a.1.0"), (2, "a.2.0"), (3, "a.2.1")], "heard 4 of 3"),
        ([(1, "a.2.0"), (2, "a.2.1"), (3, "a.3.0")], "lost"),
        ([(1, "a.1.0"), (2, "a.2.0"), (3, "a.2.1"), (4, "a.1.0")], "doubled"),
        ([(1, "a.2.0"), (2, "a.2.1"), (3, "a.1.0")], "out of order"),
        ([(1, "a.1.0"), (2, "a.2.0"), (3, "a.3.0")], "only a part"),
        ([(1, "a.1.0"), (2, "a.2.0"), (3, "a.3.0"), (4, "a.2.1")], "in between"),
        ([(1, "a.1.0"), (2, "a.3.0"), (3, "a.2.0"), (4, "a.2.1")], "expected another number"),
        ([(1, "a.1.0"), (2, "a.2.0"), (3, "a.2.1"), (4, "a.4.0")], "refused, and there"),
        ([(1, "a.1.0"), (2, "a.2.0"), (3, "a.2.1"), (5, "a.3.0")], "numbers are missing"),
        ([(1, "a.1.0"), (2, "a.2.0"), (3, "a.2.1"), (4, "b.7.0")], "nobody wrote"),
        ([(1, "a.1.0"), (2, "a.2.0"), (3, "a.2.1"), (4, over("a.10"))], "while its holder lived"),
    ],
)
def test_a_broken_promise_is_found(events: list[tuple[int, str]], words: str) -> None:
    assert any(words in each for each in broken(HISTORY, {**KEPT, S: events}))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (Ended("a", -9), "never ended"),
        (Ended("a", 1), "failed"),
        (Done("a", 9, "ok", (1,), seconds=100), "100.0 s"),
        (Heard("f", 5, S, 5, "a.3.0"), "heard"),
    ],
)
def test_what_else_is_wrong_is_found(line: Line, words: str) -> None:
    assert any(words in each for each in broken([*HISTORY, line], KEPT))


def test_an_event_that_is_there_after_its_session_was_forgotten_is_found() -> None:
    assert any("forgotten" in each for each in broken(HISTORY, {**KEPT, "own": [(1, "a.5.0"), (2, "a.9.0")]}))
