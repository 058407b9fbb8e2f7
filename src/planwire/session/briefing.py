"""What to tell the model, for authors who keep their own messages: the news, or everything that holds.

Both come as messages in the provider's format, or as one text for frameworks that write prompts themselves.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable

from planwire.chat import Hidden, block
from planwire.chat.formats import Format
from planwire.chat.narrate import merged_plans, remark_message
from planwire.model.readers import plans_of
from planwire.model.records import RECAP
from planwire.model.unheard import standing
from planwire.session.child_plan import ChildPlan, introduce_child, parent_line
from planwire.session.delivery import Delivery, Handing, handed_over
from planwire.session.known_plans import KnownPlans
from planwire.session.live_history import LiveHistory
from planwire.session.options import ProviderMessage


class Briefing(ABC):
    """`pending` and `recap` of a session. `_is_new_here`: the author's messages may lack the past."""

    id: str
    _view: LiveHistory
    _format: Format
    _child: ChildPlan | None
    _delivery: Delivery
    _known: KnownPlans
    _is_new_here: bool

    @abstractmethod
    def _settle(self) -> None:
        """Record what the caller got before."""

    @abstractmethod
    def read_file(self, uri: str) -> str | None:
        """The text of a plan file of this session."""

    def pending(self, *, again: bool = False) -> list[ProviderMessage]:
        """For authors who keep their own history: the messages to append now, at a point where no tool call is open.

        They count as told with the next call of any kind, except one with `again`: that returns the same messages once
        more, after a request that failed. The first call in a session with a past returns its `recap`, since the
        author's messages may lack that past.
        """
        with handed_over() as handing:
            return self.as_messages(self.hand_pending(handing, again=again))

    def pending_text(self, *, again: bool = False) -> str:
        """`pending` as one text; empty if there is nothing to tell."""
        with handed_over() as handing:
            return as_text(self.hand_pending(handing, again=again))

    def recap(self) -> list[ProviderMessage]:
        """For authors who keep their own history: what to put first after compacting it. The plans as they are now, and
        everything that people said about them and that still holds."""
        with handed_over() as handing:
            return self.as_messages(self.hand_recap(handing))

    def recap_text(self) -> str:
        """`recap` as one text; empty if there is nothing to tell."""
        with handed_over() as handing:
            return as_text(self.hand_recap(handing))

    def hand_pending(self, handing: Handing, *, again: bool = False) -> list[Hidden]:
        """`pending`, for a caller who says by `handing` whether the messages arrived."""
        with self._view.lock:
            if again and (last := self._delivery.last):
                return last.messages
            self._settle()
            self._read_on()
            if self._is_new_here:
                return self.hand_recap(handing)
            self._delivery.offer_context(handing)
            handing.messages = self._view.take_unsent()
            self._known.shown(self._view.state, plans_of(self._view.state, self._view.reader))
            return handing.messages

    def hand_recap(self, handing: Handing) -> list[Hidden]:
        """`recap`, for a caller who says by `handing` whether the messages arrived."""
        with self._view.lock:
            self._settle()
            self._view.read_on()
            self._look_at_files()
            handing.is_recap = True
            self._is_new_here = False
            reader = self._view.reader
            words = self._delivery.offer(handing, RECAP, lambda newest: standing(newest, reader=reader))
            self._view.take_unsent()
            state = self._view.state
            handing.messages = [*merged_plans(state, "recap", self.read_file, reader)]
            if self._child and not handing.messages:
                handing.messages.append(parent_line(state, self._child))
            self._known.shown(state, plans_of(state, reader))
            if words:
                handing.messages.append(remark_message("recap-remarks", self.id, words))
            return handing.messages

    def _read_on(self) -> None:
        """Take in what others wrote. A child is told if its step was reworded."""
        self._view.read_on()
        self._look_at_files()
        if self._child:
            introduce_child(self._view, self._child)

    @abstractmethod
    def _look_at_files(self) -> None: ...

    def as_messages(self, messages: Iterable[Hidden]) -> list[ProviderMessage]:
        """Hidden messages in the provider's format."""
        return [self._format.context(block(message)) for message in messages]


def as_text(messages: Iterable[Hidden]) -> str:
    """Hidden messages as the model reads them, in one text."""
    return "\n".join(map(block, messages))
