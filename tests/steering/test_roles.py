"""Roles: every act has one, and each role includes those before it."""

import pytest

from planwire.errors import NotAllowed
from planwire.steering.acts import ACTS
from planwire.steering.roles import ACT_ROLES, APPROVE, LOOK, ROLES, STEER, barred_acts, refuse_beyond
from planwire.steering.wanted import Wanted


def is_allowed(role: str, wanted: Wanted) -> bool:
    try:
        refuse_beyond(role, wanted)
    except NotAllowed:
        return False
    return True


def test_no_act_is_without_a_role_and_no_role_is_for_an_act_that_there_is_not() -> None:
    assert set(ACT_ROLES) == set(ACTS)
    assert set(ACT_ROLES.values()) <= set(ROLES)


@pytest.mark.parametrize("act", ACTS)
def test_who_looks_may_do_nothing_and_who_approves_everything(act: str) -> None:
    assert not is_allowed(LOOK, Wanted(act))
    assert is_allowed(APPROVE, Wanted(act))
    assert act in barred_acts(LOOK)
    assert act not in barred_acts(APPROVE)


def test_an_act_of_a_later_version_is_only_for_those_who_may_everything() -> None:
    assert [is_allowed(role, Wanted("later")) for role in ROLES] == [False, False, True]


@pytest.mark.parametrize(
    ("wanted", "allowed"),
    [
        (Wanted("review", verdict="approved"), False),
        (Wanted("review", verdict="commented"), True),
        (Wanted("review", verdict="changes_requested"), True),
        (Wanted("review", verdict="changes_requested", question="q1"), False),
        (Wanted("review", verdict="commented", option="yes"), False),
        (Wanted("review", option="yes"), False),
        (Wanted("review"), False),
        (Wanted("stop"), True),
        (Wanted("dismiss"), False),
    ],
)
def test_who_steers_may_say_anything_and_decide_nothing(wanted: Wanted, allowed: bool) -> None:
    assert is_allowed(STEER, wanted) == allowed
