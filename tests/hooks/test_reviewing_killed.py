"""Waiting hooks that are killed at any moment while people decide: no question stays open, no word gets lost, and
nothing is approved that nobody approved."""

import random
import subprocess
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from planwire.errors import PlanError
from planwire.journal import Journal, load_state, open_journal
from planwire.model.events import APPROVED, CHANGES_REQUESTED
from planwire.model.kinds import text_of
from planwire.model.unheard import news
from planwire.session.lapses import end_lapsed
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted
from tests.hooks.test_reviewing import PLAN, PROPOSAL, waiting
from tests.waiting import until

pytestmark = [pytest.mark.torture, pytest.mark.timeout(300)]

ROUNDS = 30
ACTS: tuple[dict[str, Any] | None, ...] = (
    None,
    {"verdict": APPROVED},
    {"verdict": APPROVED, "edited": "# Another plan"},
    {"verdict": CHANGES_REQUESTED, "text": "smaller steps"},
)


def is_asking(journal: Journal, session: str) -> bool:
    return load_state(journal, session).needs_person


@pytest.mark.parametrize("act", ACTS, ids=["nobody", "approved", "edited", "sent back"])
def test_a_hook_that_is_killed_at_any_moment(tmp_path: Path, act: dict[str, Any] | None) -> None:
    moments = random.Random(7)
    with open_journal(tmp_path / "journal.db") as journal:
        for number in range(ROUNDS):
            session = f"s{number}"
            with waiting(tmp_path / "journal.db", {**PROPOSAL, "session_id": session}) as process:
                if number % 3:
                    until(partial(is_asking, journal, session))
                has_acted = False
                with suppress(PlanError, KeyError):
                    if act is not None:
                        seen = load_state(journal, session).plans[PLAN].revision
                        steer(journal, session, PLAN, Wanted("review", seen=seen, **act), "ana")
                        has_acted = True
                with suppress(subprocess.TimeoutExpired):
                    process.wait(moments.random() / 3)
                process.kill()
                process.wait()
            end_lapsed(journal)
            state = load_state(journal, session)
            assert not state.needs_person, "nobody can answer any more"
            assert not [each for each in journal.leases() if each.session == session]
            record = state.plans.get(PLAN)
            if record is None:
                continue
            verdicts = [each.verdict for each in record.reviews if each.verdict in (APPROVED, CHANGES_REQUESTED)]
            assert verdicts == ([act["verdict"]] if act and has_acted else [])
            untold = {each["said"]: each for each in news(state).items}
            for review in record.reviews:
                if review.verdict in (APPROVED, CHANGES_REQUESTED) and review.told is None:
                    assert untold["verdict"]["verdict"] == review.verdict
                    if record.by == "ana":
                        assert untold["set"]["text"] == text_of(record.state.plan)
