"""A stored chat as the events of a new session: another program's trajectory, with its plan and notes."""

from collections.abc import Sequence
from typing import cast

from planwire.chat import Stored, write_message
from planwire.journal import Stamped, open_journal
from planwire.model.events import SessionOpened
from planwire.session.blocking import BlockingPlanSession
from planwire.session.options import ProviderFormat


def chat_events(messages: Sequence[Stored], session: str, title: str | None, form: str) -> tuple[Stamped, ...]:
    """The events of a session with this chat, all of them or none: a message that can't be added raises its error."""
    with open_journal("memory:") as journal:
        about = SessionOpened(title=title)
        chat = BlockingPlanSession(journal, session, format=cast(ProviderFormat, form), about=about)
        chat.add(*map(write_message, messages))
        return tuple(Stamped(each.at, each.by, each.event) for each in journal.read(session))
