"""Times by several clocks: never backwards within a session, and none by a clock that is a day and more ahead."""

import pytest

from planwire.model.clocks import MOST_AHEAD, is_plausible, time_after

HOUR = 3_600_000
NOW = 1_000 * HOUR
WRONG = NOW + MOST_AHEAD + 1


@pytest.mark.parametrize(
    ("before", "at", "time"),
    [
        (NOW - 5, NOW, NOW),
        (NOW - 1, NOW - 5, NOW - 1),  # it waited, or its clock is behind
        (NOW + 2 * HOUR, NOW, NOW + 2 * HOUR),  # the other's clock is ahead
        (WRONG, NOW, NOW),
        (WRONG, NOW - 5, NOW - 5),
        (NOW - 5, WRONG, NOW - 5),
        (0, WRONG, NOW),
        (WRONG, WRONG, NOW),
    ],
)
def test_times_never_run_backwards_and_a_wrong_clock_dates_no_other_event(before: int, at: int, time: int) -> None:
    assert time_after(before, at, NOW) == time


def test_a_clock_may_be_a_day_ahead() -> None:
    assert is_plausible(NOW + MOST_AHEAD, NOW)
    assert not is_plausible(WRONG, NOW)
