"""The likeness of texts: the answers of `difflib`, which ids of steps in old journals depend on."""

from difflib import SequenceMatcher
from itertools import pairwise
from random import Random

from hypothesis import example, given
from hypothesis import strategies as st

from planwire.model.likeness import Likeness
from planwire.model.steps import NEARLY_SAME, SIMILAR

TEXTS = st.text("ab c", max_size=60) | st.text(max_size=30)


@given(TEXTS, TEXTS, st.sampled_from([SIMILAR, NEARLY_SAME]) | st.floats(0, 1))
@example("", "", 1.0)
@example("", "a", 0.0)
@example("Write the tests", "Write all of the tests", SIMILAR)
def test_the_answer_is_that_of_difflib(one: str, other: str, threshold: float) -> None:
    ratio = SequenceMatcher(None, one, other, autojunk=False).ratio()
    assert Likeness().is_alike(one, other, threshold) == (ratio >= threshold)
    assert Likeness().is_alike(one, other, ratio)


def test_texts_in_plain_words_are_compared_to_the_end() -> None:
    likeness = Likeness()
    one, other = "Write the parser for the new configuration files", "Run the linter over all the modules of the server"
    assert not any(likeness.is_alike(one, other, NEARLY_SAME) for _ in range(400))
    assert likeness.is_alike(one, f"{one} too", NEARLY_SAME)


def test_beyond_the_looks_no_texts_are_alike() -> None:
    random = Random(0)
    hostile = ["".join(random.choices("ab", k=240)) for _ in range(1_000)]
    likeness = Likeness()
    for one, other in pairwise(hostile):
        likeness.is_alike(one, other, NEARLY_SAME)
    assert not likeness.is_alike("the same", "the same", SIMILAR)
    assert not likeness.is_extended(["the", "same"], ["the", "same"])
