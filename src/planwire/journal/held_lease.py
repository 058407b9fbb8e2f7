"""A lease as its holder has it, on any engine, and how long one lasts on a server that hears no more of its holder."""

import os
from collections.abc import Callable
from typing import Final

from planwire.journal.codec import encode_terms
from planwire.journal.protocol import Terms

#: Seconds that a lease on a server lasts without a renewal; and one that was taken on behalf of another process.
TTL: Final = 30
PROCESS_TTL: Final = 600


class HeldLease:
    """A `Lease`. `keep` stores its name, session, terms and process; `remove` removes it by name."""

    def __init__(
        self, session: str, terms: Terms, keep: Callable[[str, str, str, str], None], remove: Callable[[str], None]
    ) -> None:
        self._session = session
        self._process = terms.process
        self._name = terms.lease_of(session) or os.urandom(8).hex()
        self._keep = keep
        self._remove = remove
        self._released = False
        self._terms = encode_terms(session, terms)
        self._keep(self._name, session, self._terms, self._process)

    def renew(self, terms: Terms) -> None:
        text = encode_terms(self._session, terms)
        if not self._released and text != self._terms:
            self._keep(self._name, self._session, text, self._process)
            self._terms = text

    def release(self) -> None:
        if not self._released:
            self._remove(self._name)
            self._released = True
