"""Random sessions in every format: whatever happens, providers take each request, requests only grow, no message is
lost, doubled or swapped, and a model knows its plans from its context alone."""

import random
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planwire.session import live_history
from planwire.session.options import ProviderFormat
from tests.session.random_life import RandomLife

FORMATS = get_args(ProviderFormat)


def play(life: RandomLife, moves: int) -> None:
    """So many moves, each by chance."""
    acts = (
        *(life.chat, life.chat, life.chat, life.work, life.work, life.work, life.say, life.say, life.act),
        *(life.with_child, life.request_now, life.compact, life.compact, life.rebase),
        *(life.restart, life.fork, life.carry_over),
    )
    for _ in range(moves):
        life.luck.choice(acts)()
    life.request(fresh=False)


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=max(1, settings().max_examples // 25))
@given(seed=st.integers(0, 2**32), moves=st.integers(5, 50))
def test_nothing_is_lost_doubled_or_swapped_whatever_happens(form: ProviderFormat, seed: int, moves: int) -> None:
    begin(form, seed, moves)


@pytest.mark.torture
@pytest.mark.timeout(900)
@pytest.mark.parametrize("form", FORMATS)
def test_nothing_is_lost_doubled_or_swapped_in_hundreds_of_sessions(form: ProviderFormat) -> None:
    first = random.randrange(2**32)
    for seed in range(first, first + 200):
        try:
            begin(form, seed, random.Random(seed).randrange(5, 60))
        except BaseException as error:
            error.add_note(f"with the seed {seed}")
            raise


def begin(form: ProviderFormat, seed: int, moves: int) -> None:
    """Play a session from its beginning."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live_history, "SNAPSHOT_EVERY", random.Random(seed).choice((3, 20, 256)))
        play(RandomLife(form, random.Random(seed)), moves)
