"""Routing answers to their requests: one subscription takes all answers; the last word of the subject is the token."""

import os
import re
from collections.abc import Callable
from itertools import count
from typing import Final

from planwire.errors import JournalUnavailable
from planwire.journal.jetstream.wire import WireMessage

#: Called with each message for a token, on the loop's thread; with None once no more will come.
Handler = Callable[[WireMessage | None], None]
#: How a server says that this user may not publish or subscribe. nats-py makes all of it lower case.
_DENIED: Final = re.compile(r'permissions violation for publish to "([^"]*)"')
_DEAF: Final = "permissions violation for subscription to"
#: How the subjects for telling a consumer that there is room begin, in lower case.
_FLOW: Final = "$js.fc."


class NatsInbox:
    """The handlers of answers, by token. Any thread may expect an answer."""

    def __init__(self, prefix: str) -> None:
        self.subject = f"{prefix}.{os.urandom(11).hex()}"
        self._skip = len(self.subject) + 1
        self._tokens = count(1)
        self._handlers: dict[str, tuple[Handler, str]] = {}
        self._denied: set[str] = set()
        self.may_ask_for_more = True
        self.is_deaf = False  # whether this user may not subscribe to answers
        self.refusals = 0  # how often the server has said so

    def expect(self, handler: Handler, asked: str = "") -> str:
        """A new token, whose messages go to the handler until `drop`; `asked` is the subject of the request."""
        token = str(next(self._tokens))
        self._handlers[token] = handler, asked
        return token

    def drop(self, token: str) -> bool:
        """Stop expecting messages. Says whether the server denied this user the request."""
        self._handlers.pop(token, None)
        if token not in self._denied:
            return False
        self._denied.discard(token)
        return True

    def reply_subject(self, token: str) -> str:
        return f"{self.subject}.{token}"

    def hear(self, reply: WireMessage) -> None:
        if found := self._handlers.get(reply.subject[self._skip :]):
            found[0](reply)

    def fail(self, token: str) -> None:
        """Tell the handler that its request was not sent."""
        if found := self._handlers.get(token):
            found[0](None)

    def begin(self) -> None:
        """Forget denied permissions: a new connection is due, or the user was permitted more on this one."""
        self.may_ask_for_more, self.is_deaf = True, False

    def fail_all(self) -> None:
        for handler, _ in tuple(self._handlers.values()):
            handler(None)

    def deny(self, trouble: str) -> bool:
        """Whether a trouble is a denied permission, to ask something or to hear answers. If so, fail the requests that
        will get no answer."""
        if f'{_DEAF} "{self.subject.lower()}' in trouble.lower():
            self.is_deaf = True
            self.refusals += 1
            self.fail_all()
            return True
        found = _DENIED.search(trouble.lower())
        if found is None:
            return False
        if found[1].startswith(_FLOW):
            self.may_ask_for_more = False
        for token, (handler, asked) in tuple(self._handlers.items()):
            if asked and asked.lower() == found[1]:
                self._denied.add(token)
                handler(None)
        return True


def forbidden(where: str, subject: str) -> JournalUnavailable:
    return JournalUnavailable(
        f"this login may not publish to {subject} on the NATS server at {where}. Nothing was changed; ask whoever runs "
        "the server to permit it"
    )


def deaf(where: str, prefix: str) -> JournalUnavailable:
    return JournalUnavailable(
        f"this login may not subscribe to {prefix}.> on the NATS server at {where}, so it gets no answers: ask whoever "
        "runs the server to permit it"
    )
