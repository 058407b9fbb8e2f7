"""Texts of plans as messages in a chat, for clients that have no other place for prose.

A chat message is where people read prose, so a plan's text goes out as message chunks. A growing text sends only its
new end, under the same message id, and clients append it; a rewritten text starts a new message, because there is no
way to take back a message.

Some clients print all chunks in a row, whatever message they belong to. So a message begins with a blank line and a
heading that says it is a plan, and ends with a blank line. While a text may still grow, the blank line at its end comes
right before the agent's next words (`close`).
"""

from typing import Final

from msgspec import Struct

from planwire.acp.words import SPOKEN
from planwire.model import markdown
from planwire.model.file_texts import address_of
from planwire.model.kinds import is_prose, prose_of, text_of
from planwire.model.plan import MAIN, Fields, Plan, PlanId
from planwire.model.titles import UNNAMED, readable_id

#: What separates texts from each other: a blank line.
_GAP: Final = "\n\n"


class _SpokenText(Struct, frozen=True):
    """A plan's text as the client has it, and the number of the message that holds it: 1, 2, 3 …"""

    text: str = ""
    message: int = 0


class SpokenTexts:
    """The plan texts that one session's client has been sent. With `streams`, a text may go on growing; without, every
    text is whole."""

    def __init__(self, *, streams: bool) -> None:
        self._streams = streams
        self._told: dict[PlanId, _SpokenText] = {}
        self._open = ""  # the last message, until something separates it from what comes next

    @property
    def is_open(self) -> bool:
        """Whether the last text is not yet separated from what the agent says next."""
        return bool(self._open)

    def say(self, plan: Plan) -> list[Fields]:
        """The updates that say what is new in a plan's text."""
        told = self._told.get(plan.id, _SpokenText())
        text = text_of(plan)
        if not text or not (told.text or is_prose(plan)):
            return []
        settled = text if prose_of(plan) is None else markdown.unmarked(text)
        if settled == told.text:
            return []
        grows = bool(told.text) and prose_of(plan) is not None and settled.startswith(told.text)
        number = told.message if grows else told.message + 1
        message = f"planwire:{number}" if plan.id is None else f"planwire:{plan.id}:{number}"
        if not grows:
            new = _GAP + _named(plan, text)
        else:
            new = text[len(told.text) :]
            if message != self._open and (told.text.endswith("\n") or new.startswith("\n")):  # not amid a sentence
                new = _GAP + new
        self._told[plan.id] = _SpokenText(settled, number)
        if not self._streams:
            return [_chunk(new + _GAP, message)]
        self._open = message
        return [_chunk(new, message)]

    def know(self, plan_id: PlanId, text: str) -> None:
        """Note that the client already shows a plan's text elsewhere, so that no message repeats it."""
        told = self._told.get(plan_id, _SpokenText())
        self._told[plan_id] = _SpokenText(markdown.unmarked(text), told.message)

    def close(self) -> list[Fields]:
        """Separate the last text from what comes next: with a blank line, once."""
        message, self._open = self._open, ""
        return [_chunk(_GAP, message)] if message else []

    def settle(self) -> None:
        """Note that something else now separates the last text from what comes next."""
        self._open = ""

    def retell(self) -> None:
        """Start over: every text is sent once more."""
        self._told = {plan_id: _SpokenText(message=told.message) for plan_id, told in self._told.items()}
        self._open = ""


def _named(plan: Plan, text: str) -> str:
    """A plan's text after a heading that says what it is. The heading has no title: a growing text may end amid it."""
    if address_of(plan) is not None:
        return f"Plan file: {text}"
    name = "" if plan.id == MAIN else readable_id(plan.id)
    return f"**{UNNAMED}: {name}**{_GAP}{text}" if name else f"**{UNNAMED}**{_GAP}{text}"


def _chunk(text: str, message: str) -> Fields:
    return {"sessionUpdate": SPOKEN, "content": {"type": "text", "text": text}, "messageId": message}
