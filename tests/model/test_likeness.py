"""The likeness of texts: the answers of `difflib`, which ids of steps in old journals depend on."""

from difflib import SequenceMatcher

from hypothesis import example, given
from hypothesis import strategies as st

from planwire.model.likeness import is_alike
from planwire.model.steps import NEARLY_SAME, SIMILAR

TEXTS = st.text("ab c", max_size=60) | st.text(max_size=30)


@given(TEXTS, TEXTS, st.sampled_from([SIMILAR, NEARLY_SAME]) | st.floats(0, 1))
@example("", "", 1.0)
@example("", "a", 0.0)
@example("Write the tests", "Write all of the tests", SIMILAR)
def test_the_answer_is_that_of_difflib(one: str, other: str, threshold: float) -> None:
    ratio = SequenceMatcher(None, one, other, autojunk=False).ratio()
    assert is_alike(one, other, threshold) == (ratio >= threshold)
    assert is_alike(one, other, ratio)
