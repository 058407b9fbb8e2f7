"""Steps as people name them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.cli.exit_codes import NOT_FOUND, USAGE, exit_code
from planwire.cli.step_argument import LISTED, choose_step
from planwire.errors import InputError, NotFound

#: After an insert: ids are no line numbers.
STEPS = [
    ("s1", "Read the code"),
    ("s7", "Write the tests"),
    ("s2", "Write the code"),
    ("s3", "Tests: run all"),
    ("s4", "s1"),
]


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("s7", "s7"),
        ("2", "s7"),
        ("5", "s4"),
        ("READ", "s1"),
        ("the tests", "s7"),
        ("  run\n all ", "s3"),
        ("s1", "s1"),
    ],
)
def test_a_step_is_named_by_its_id_its_line_or_its_words(name: str, step: str) -> None:
    assert choose_step(STEPS, name) == step


def test_the_whole_text_of_a_step_wins_over_a_part_of_another() -> None:
    assert choose_step([("a", "Write tests"), ("b", "Write tests for it")], "write TESTS") == "a"


def test_words_of_several_steps_are_not_guessed_at() -> None:
    with pytest.raises(InputError, match="2 steps match 'write'") as raised:
        choose_step(STEPS, "write")
    assert exit_code(raised.value) == USAGE
    assert str(raised.value).endswith("\n  s7  Write the tests\n  s2  Write the code")


@pytest.mark.parametrize("name", ["s9", "0", "6", "", " ", "release", "²", "-1"])
def test_a_step_that_is_not_there_is_answered_with_those_that_are(name: str) -> None:
    with pytest.raises(NotFound, match="no step matches") as raised:
        choose_step(STEPS, name)
    assert exit_code(raised.value) == NOT_FOUND
    assert "\n  s7  Write the tests\n" in str(raised.value)


def test_a_long_list_is_cut_and_a_plan_without_steps_says_so() -> None:
    with pytest.raises(NotFound, match=r"\n  and 2 more$"):
        choose_step([(f"s{number}", "x" * 200) for number in range(LISTED + 2)], "y")
    with pytest.raises(NotFound, match="the plan has no steps"):
        choose_step([], "y")


@given(st.dictionaries(st.text(max_size=4), st.text(max_size=12), min_size=1), st.data())
def test_every_step_can_be_named_by_its_id(steps: dict[str, str], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(steps)))
    assert choose_step(list(steps.items()), name) == name
