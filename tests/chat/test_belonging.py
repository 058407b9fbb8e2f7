"""The steps that messages belong to: as they keep it themselves, and as plans and changes in a stream say it."""

from typing import Any

import pytest

from planwire.chat import Ordinary, Stored, read_message, write_message
from planwire.chat.belonging import belonging, is_pinned, with_pin, with_steps
from tests.chats import delta, event, plan, says

STEPS = [
    {"id": "s1", "content": "a", "status": "in_progress"},
    {"id": "s2", "content": "b", "status": "pending"},
]


def talk(name: str) -> Ordinary:
    return Ordinary(name, says("openai-chat", "words"))


def status(name: str, **steps: str) -> Stored:
    changes = [{"do": "status", "step": step, "status": word} for step, word in steps.items()]
    return delta(name, changes=changes)


def found(*stream: Stored) -> dict[str, tuple[str, ...]]:
    steps = belonging(stream).steps
    return {each.id: steps[index] for index, each in enumerate(stream) if isinstance(each, Ordinary)}


def test_a_message_belongs_to_the_steps_in_progress_when_it_came() -> None:
    assert found(
        talk("before"),
        plan("p", "", steps=STEPS),
        talk("one"),
        status("d1", s2="doing"),
        talk("both"),
        status("d2", s1="completed"),
        talk("two"),
        delta("d3", changes=[{"do": "add", "id": "s3", "content": "c", "status": "in_progress"}]),
        talk("added"),
        delta("d4", changes=[{"do": "remove", "step": "s2"}]),
        talk("left"),
        plan("q", "- [~] other\n- [ ] more", "x"),
        talk("text"),
        delta("r", removed=True),
        talk("removed"),
    ) == {
        "before": (),
        "one": ("main#s1",),
        "both": ("main#s1", "main#s2"),
        "two": ("main#s2",),
        "added": ("main#s2", "main#s3"),
        "left": ("main#s3",),
        "text": ("main#s3", "x#s1"),
        "removed": ("x#s1",),
    }


def test_open_steps_are_those_of_the_last_plan_and_its_changes() -> None:
    stream = [plan("p", "", steps=STEPS), status("d", s1="completed"), plan("q", "- [x] a\n- [ ] b", "x")]
    assert belonging(stream).open == {"main#s2", "x#s2"}
    assert belonging([*stream, delta("r", plan_id="x", removed=True)]).open == {"main#s2"}


def test_a_message_that_keeps_its_steps_needs_no_plan() -> None:
    kept = with_steps(talk("m"), ("main#s7",))
    assert found(kept, plan("p", "", steps=STEPS)) == {"m": ("main#s7",)}
    assert with_steps(kept, ("main#s1",)) is kept, "those that it came with"
    assert read_message(write_message(kept)) == kept
    assert "planwire" not in str(kept.message), "no provider gets it"


def test_a_pin_leaves_the_rest_of_the_envelope_alone() -> None:
    message = Ordinary("m", says("openai-chat", "words"), {"mine": 1})
    pinned = with_pin(with_steps(message, ("main#s1",)), True)
    assert is_pinned(pinned)
    assert pinned.extra == {"mine": 1, "planwire": {"steps": ["main#s1"], "pinned": True}}
    assert with_pin(pinned, False).extra == {"mine": 1, "planwire": {"steps": ["main#s1"]}}
    assert with_pin(with_pin(message, True), False) == message
    assert with_pin(with_pin(talk("m"), True), False).extra is None


@pytest.mark.parametrize("own", [None, 1, [], {"steps": "s1"}, {"steps": [1, None]}, {"pinned": 1}])
def test_an_envelope_of_any_shape_does_no_harm(own: Any) -> None:
    strange = Ordinary("m", says("openai-chat", "words"), {"planwire": own})
    assert found(strange) == {"m": ()}
    assert not is_pinned(strange)
    assert belonging([event("e", "plan_delta", changes=[3, {"do": "status"}, {"do": "add", "id": 4}])]).open == set()
