"""A transcript that is being read, in any format: its time, whether a turn is on, and which calls are open.

No question about a past plan is open, so each is a draft until it was decided.
"""

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from planwire.hooks.happenings import (
    ChildBegan,
    ChildEnded,
    Decided,
    Happening,
    HookCall,
    Proposed,
    Started,
    TurnBegan,
    TurnOver,
)
from planwire.hooks.plan_calls import FILE_CALLS, PLAN_CALLS, PROPOSALS, plan_file_draft
from planwire.hooks.transcripts import TRANSCRIPT, Keep, Past, PastCall, PastCalls, TranscriptHead
from planwire.model.stop_reasons import STOP_END_TURN


class PastReading:
    """What a reader of any format reports, as values with their times."""

    def __init__(self, agent: str, head: TranscriptHead, keep: Keep, is_plan_file: Callable[[str], bool]) -> None:
        self.calls = PastCalls(keep)
        self._agent, self._head, self._keep, self._is_plan_file = agent, head, keep, is_plan_file
        self._at = 0
        self._turn: str | None = None
        self._stop: str | None = None  # why the turn would end now, if one is on

    def moment(self, at: int | None) -> Iterator[Past]:
        """Something happened at that time, or at an unknown one. The first known time begins the session."""
        is_first = not self._at
        self._at = max(self._at, at or 0)
        if is_first and self._at:
            yield self.past(Started("startup") if self._head.child is None else ChildBegan())

    def prompt(self, text: str, turn: str | None = None) -> Iterator[Past]:
        """A person's prompt, which ends the turn before. A sub-agent is prompted by its agent: that is ignored."""
        if self._head.child is not None:
            return
        yield from self.turn_over(STOP_END_TURN)
        self._stop, self._turn = STOP_END_TURN, turn
        self.calls.forget()
        yield self.past(TurnBegan(text if self._keep.prompts else ""))

    def stopping(self, reason: str) -> None:
        """The turn, if one is on, will end for this reason."""
        self._stop = reason if self._stop else None

    def turn_over(self, reason: str) -> Iterator[Past]:
        """The turn is over, if one is on."""
        if self._stop:
            yield self.past(TurnOver(self._stop if self._stop != STOP_END_TURN else reason))
        self._stop = None

    def called(self, key: str, name: str, arguments: object) -> Iterator[Past]:
        """A call of a tool, whose result is yet to come. Calls that have nothing to do with plans are left out."""
        if name not in PLAN_CALLS and name not in FILE_CALLS:
            return
        call = self.calls.begin(key, name, arguments)
        proposed = PROPOSALS[name](arguments, None) if name in PROPOSALS else ()
        if what := tuple(replace(each, draft=True) for each in proposed if isinstance(each, Proposed) and each.text):
            yield self.past(*what, call=call, key=key)

    def returned(self, key: str, result: object, *, failed: bool = False) -> Iterator[Past]:
        """The result of a call. One that failed changed nothing."""
        call = self.calls.end(key)
        if call is None or failed:
            return
        if call.name in FILE_CALLS:
            what = plan_file_draft(call.name, call.arguments, self._is_plan_file)
        else:
            what = PLAN_CALLS[call.name](call.arguments, result)
        yield from self.happened(*what, call=call, key=key)

    def happened(self, *what: Happening, call: PastCall | None = None, key: str | None = None) -> Iterator[Past]:
        """Anything else, without people's words if these are not to be kept."""
        kept = tuple(
            replace(each, words="") if isinstance(each, Decided) and not self._keep.prompts else each for each in what
        )
        if kept:
            yield self.past(*kept, call=call, key=key)

    def end(self) -> Iterator[Past]:
        """The end of the transcript."""
        yield from self.turn_over(STOP_END_TURN)
        if self._at and self._head.child is not None:
            yield self.past(ChildEnded())

    def past(self, *what: Happening, call: PastCall | None = None, key: str | None = None) -> Past:
        head = self._head
        heard = HookCall(
            self._agent,
            head.session,
            TRANSCRIPT,
            what=what,
            folder=head.folder,
            call=key,
            turn=self._turn,
            child=head.child,
        )
        return Past(self._at, heard, call.thought if call else "")
