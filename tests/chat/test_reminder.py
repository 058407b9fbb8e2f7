"""Reminders in the journal: one shape for the relay that writes them and the history that shows them."""

import pytest

from planwire.chat.messages import EventMessage, read_message
from planwire.chat.reminder import ELEMENT, Reminder, read_reminder, write_reminder
from planwire.model.plan import Fields

TEXT = f'<{ELEMENT} mark="w-1">\nYour context was compacted. This is the plan: go on.\n</{ELEMENT}>'


def test_a_reminder_is_read_as_it_was_written() -> None:
    reminder = Reminder("w-1", TEXT, "Another reason.")
    assert read_reminder(write_reminder(reminder)) == reminder


def test_a_reminder_is_a_hidden_message_of_the_chat() -> None:
    message = read_message(write_reminder(Reminder("w-1", TEXT, "Why.")))
    assert isinstance(message, EventMessage)
    assert (message.id, message.subkind, message.source) == ("planwire-w-1", "system_notice", "relay")


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": TEXT},
        {"role": "event", "content": TEXT, "extra": {"event": {"source": "relay"}}},
        {"role": "event", "content": TEXT, "extra": {"event": {"source": "me", "payload": {"mark": "w", "why": "x"}}}},
        {},
    ],
)
def test_other_messages_are_no_reminders(message: Fields) -> None:
    assert read_reminder(message) is None
