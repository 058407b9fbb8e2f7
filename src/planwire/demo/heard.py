"""What people said, as the demo agent hears it: read from its prompts, and taken up into its list.

A model would read the block and understand it. The demo agent has none, so it reads the block with planwire's parser.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Final

from msgspec import Struct

from planwire.chat.said import Said, said_in
from planwire.errors import BadMessage
from planwire.model.records import USER
from planwire.model.statuses import status_of

_WORDS: Final = frozenset(("comment", "request"))


class Listed(Struct, eq=False):
    """A step of the demo agent: its words, its words while the agent works on it, and its checkbox. `is_dropped`: the
    agent will cancel it when its turn comes."""

    text: str
    doing: str
    priority: str = "medium"
    box: str = " "
    is_dropped: bool = False

    @property
    def is_open(self) -> bool:
        return self.box in " ~"


def heard_in(prompt: Any) -> tuple[Said, ...]:
    """Everything that planwire's blocks in a prompt say, the plans included."""
    said: list[Said] = []
    for part in prompt if isinstance(prompt, list) else ():
        text = part.get("text") if isinstance(part, dict) else None
        if isinstance(text, str) and text.startswith("<planwire-context"):
            with suppress(BadMessage):
                said += said_in(text)
    return tuple(said)


def take_up(said: Sequence[Said], steps: list[Listed]) -> list[str]:
    """Apply what people suggest to a list, and answer each of their words with a sentence."""
    listed = {each.target: _step(each.text, steps) for each in said if each.kind == "step"}
    answers = [_taken_up(each, listed.get(each.target), steps) for each in said]
    return [answer for answer in answers if answer]


def _taken_up(said: Said, step: Listed | None, steps: list[Listed]) -> str:
    who = "you" if said.author == USER else said.author
    if said.kind == "add":
        steps.append(Listed(said.text, said.text))
        return f"“{said.text}” is on my list now, as {who} suggested."
    if said.kind in _WORDS:
        about = f" of “{step.text}”" if step else ""
        return f"“{said.text}”, {who} said{about}: I go by that from now on."
    if step not in steps:
        return ""
    before = step.text
    if said.kind == "reword":
        step.text = step.doing = said.text
        return f"“{before}” is “{said.text}” now, as {who} suggested."
    if said.kind == "status" and (status := status_of(said.text)):
        step.box = status.box
        return f"“{before}” is {status.spoken} now, as {who} suggested."
    if said.kind == "remove":
        steps.remove(step)
        return f"“{before}” is gone, as {who} suggested."
    return f"“{before}” stays where it is: I'd rather keep the order." if said.kind == "move" else ""


def _step(words: str, steps: Iterable[Listed]) -> Listed | None:
    return next((step for step in steps if words in (step.text, step.doing)), None)
