"""What the demo agent makes of the words of people in its prompts."""

import pytest

from planwire.demo.heard import Listed, heard_in, take_up

PLAN = '<plan id="fix" by="agent"><step id="s1">Read</step><step id="s2" status="in_progress">Writing</step></plan>'


def taken_up(remarks: str) -> tuple[list[tuple[str, str]], list[str]]:
    block = f"<planwire-context mark='x'>{PLAN}<plan-remarks>{remarks}</plan-remarks></planwire-context>"
    steps = [Listed("Read", "Reading"), Listed("Write", "Writing", box="~")]
    answers = take_up(heard_in([{"type": "text", "text": "Go on."}, {"type": "text", "text": block}]), steps)
    return [(step.text, step.box) for step in steps], answers


@pytest.mark.parametrize(
    ("change", "steps", "answer"),
    [
        (
            "<add>Ship</add>",
            [("Read", " "), ("Write", "~"), ("Ship", " ")],
            "“Ship” is on my list now, as ann suggested.",
        ),
        ('<reword step="s2">Draw</reword>', [("Read", " "), ("Draw", "~")], "“Write” is “Draw” now, as ann suggested."),
        (
            '<status step="s1">completed</status>',
            [("Read", "x"), ("Write", "~")],
            "“Read” is done now, as ann suggested.",
        ),
        ('<remove step="s1"/>', [("Write", "~")], "“Read” is gone, as ann suggested."),
        ('<move step="s1" place="end"/>', [("Read", " "), ("Write", "~")], "“Read” stays where it is: I'd rather keep"),
        ('<priority step="s1">high</priority>', [("Read", " "), ("Write", "~")], None),
    ],
)
def test_suggestions_change_its_list(change: str, steps: list[tuple[str, str]], answer: str | None) -> None:
    after, answers = taken_up(f'<suggestion id="r1" by="ann" plan="fix">{change}</suggestion>')
    assert after == steps
    assert len(answers) == (0 if answer is None else 1)
    assert all(each.startswith(answer or "") for each in answers)


def test_suggestions_on_one_step_are_all_taken_up() -> None:
    changes = (
        '<reword step="s2">Draw</reword>',
        '<status step="s2">cancelled</status>',
        '<remove step="s1"/>',
        '<remove step="s1"/>',
    )
    after, answers = taken_up(
        "".join(
            f'<suggestion id="r{number}" by="ann" plan="fix">{change}</suggestion>'
            for number, change in enumerate(changes, 1)
        )
    )
    assert after == [("Draw", "-")]
    assert answers == [
        "“Write” is “Draw” now, as ann suggested.",
        "“Draw” is cancelled now, as ann suggested.",
        "“Read” is gone, as ann suggested.",
    ]


def test_comments_are_answered() -> None:
    whole = '<comment id="r1" by="user" plan="fix">be quick</comment>'
    step = '<request id="r2" by="ann" plan="fix" step="s2">not so</request>'
    assert taken_up(whole + step)[1] == [
        "“be quick”, you said: I go by that from now on.",
        "“not so”, ann said of “Write”: I go by that from now on.",
    ]


@pytest.mark.parametrize("prompt", [None, "x", [3], [{"text": 5}], [{"text": "<planwire-context"}], [{"text": PLAN}]])
def test_a_prompt_without_a_block_says_nothing(prompt: object) -> None:
    assert heard_in(prompt) == ()
