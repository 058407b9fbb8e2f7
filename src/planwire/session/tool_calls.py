"""Calls of the plan tools in a session: prepared on the newest state, written once, answered with what people said."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import msgspec

from planwire.errors import EngineAway, PlanwireError, ToolError
from planwire.journal import Journal, Once, state_at
from planwire.journal.thoughts import kept_why
from planwire.journal.waiting import NOT_KNOWN, NOT_YET, is_away, is_lost, is_right_after, is_waiting, why_away
from planwire.model.events import Event, PlanChanged, PlanSet
from planwire.model.file_texts import ReadFile
from planwire.model.plan import BODY_CAP, MAIN
from planwire.model.records import TOOL, SessionState
from planwire.model.unheard import has_word
from planwire.session.child_plan import ChildPlan
from planwire.session.delivery import Delivery, Handing
from planwire.session.known_plans import KnownPlans
from planwire.session.live_history import LiveHistory
from planwire.session.old_notes import notes_of
from planwire.session.options import SessionOptions
from planwire.tools.answers import Answer, answer_call, failure, said, waiting_answer
from planwire.tools.call import Call, asking, prepare_call, repeated_call
from planwire.tools.json_arguments import decoded
from planwire.tools.plan_files import read_plan_file
from planwire.tools.schemas import GET_PLAN, SET_PLAN
from planwire.tools.size_limits import TRUNCATE

#: How often a call tries to record that it waits, while others keep writing.
ASKING_TRIES: Final = 3
#: The largest file, in bytes, of which `oversize="truncate"` keeps the beginning.
FILE_CAP: Final = 4 * BODY_CAP


class ToolCalls:
    """The tools of one session object. `known` are the plans that its model has read; `settle` records what its caller
    got."""

    def __init__(
        self,
        journal: Journal,
        view: LiveHistory,
        delivery: Delivery,
        known: KnownPlans,
        settle: Callable[[], None],
        *,
        options: SessionOptions,
        folders: Iterable[str | Path],
        read: ReadFile,
        child: ChildPlan | None = None,
    ) -> None:
        self._journal = journal
        self._view = view
        self._delivery = delivery
        self._known = known
        self._settle = settle
        self._options = options
        self._child = child
        self._thought = ""
        self._folders = tuple(folders)
        self._read = read

    def run(self, name: str, arguments: Any, since: int | None, handing: Handing | None, call_id: str | None) -> Answer:
        """The answer to a call; `still_waiting` if it would have to wait. Errors are part of it."""
        with self._view.lock:
            try:
                self._settle()
                since = self._view.seq if since is None else since
                answer, before = self._run(name, decoded(arguments), since, call_id)
                if not answer.is_waiting:
                    self._say(answer, handing, before if name == SET_PLAN else None)
            except PlanwireError as error:
                answer = Answer(failure(error))
                if current := answer["error"].get("current"):
                    self._known.shown(self._view.state, [current["plan_id"]])
                with suppress(PlanwireError):
                    self._view.read_on()
                    self._say(answer, handing)
            return answer

    def think(self, text: str) -> None:
        """Keep what the model thought and said, for the next plan or change."""
        with self._view.lock:
            self._thought = text

    def act(self, name: str, arguments: Any, uri: str = "") -> None:
        """Do what a call does, without an answer. Errors are raised. `uri` is the file of a plan to set as a file."""
        self._run(name, decoded(arguments), self._view.seq, None, uri)

    def _run(
        self, name: str, arguments: Any, since: int, call_id: str | None, uri: str = ""
    ) -> tuple[Answer, SessionState]:
        """The answer to a call, and the state before it."""
        arguments = self._with_file(arguments) if name == SET_PLAN else arguments
        before = self._view.state
        call: Call | None = None
        why = cache(partial(kept_why, self._journal, self._view.id, self._thought))
        once = _once(self._options["by"], call_id) if call_id and name != GET_PLAN else None
        tries = iter(range(ASKING_TRIES))

        def prepare(state: SessionState) -> Sequence[Event]:
            nonlocal before, call
            options = {"oversize": self._options["oversize"], "mode": self._options["mode"]}
            before, knows, reader = state, self._known.has_read, self._view.reader
            _refuse_expecting(self._journal, state.id, arguments, once)
            main = self._child.plan_id if self._child else MAIN
            call = prepare_call(
                state, name, arguments, read=self._read, knows=knows, reader=reader, main=main, uri=uri, **options
            )
            if self._child and name != GET_PLAN:
                self._child.check(state, call.plan_id, name)
            if call.waits and not has_word(state, call.plan_id, since):
                return asking(state, call.plan_id) if next(tries, None) is not None else ()
            return [self._own(each, why) for each in call.events]

        written = self._view.write(prepare, once, waits=not _expects(arguments))
        after = self._view.state
        if any(isinstance(each.event, PlanSet | PlanChanged) for each in written):
            self._thought = ""
        if call is None or (written and not is_right_after(written[0].seq, before.seq)):  # the call was made before
            call = repeated_call([each.event for each in written])
            before = state_at(self._journal, self._view.id, written[0].seq - 1)
            after = state_at(self._journal, self._view.id, written[-1].seq)
        if call.waits and not has_word(after, call.plan_id, since):
            return Answer(waiting_answer(call, after)), before
        if name in (GET_PLAN, SET_PLAN) and not call.all_notes:
            self._known.shown(self._view.state, [call.plan_id])
        notes = partial(notes_of, self._journal, self._view.id)
        answer = Answer(answer_call(call, before, after, self._read, notes))
        if written and is_waiting(written[-1].seq):
            answer["not_yet_delivered"] = NOT_YET
        return answer, before

    def _own(self, event: Event, why: Callable[[], str]) -> Event:
        """An event as this reader writes it, with the thoughts before it."""
        own = self._child.own(event) if self._child else event
        if not self._thought or not isinstance(own, PlanSet | PlanChanged):
            return own
        return msgspec.structs.replace(own, why=why())

    def _say(self, answer: Answer, handing: Handing | None, before: SessionState | None = None) -> None:
        """Put what people said since into the answer of a tool. If the call replaced a plan of the state `before`, add
        what they had changed in it."""
        replaced = self._delivery.replaced(before) if before else ()
        if not replaced and not self._delivery.news(self._view.state, TOOL):
            return
        on_its_way = handing or Handing()
        words = self._delivery.offer(on_its_way, TOOL, lambda state: self._delivery.news(state, TOOL))
        words = msgspec.structs.replace(words, items=(*words.items, *replaced))
        answer |= said(words, on_its_way.told.request if on_its_way.told else "", answer)
        if handing is None:
            on_its_way.hand_over()
            with suppress(PlanwireError):  # the next call tries again
                self._settle()

    def _with_file(self, arguments: Any) -> Any:
        """The arguments of set_plan, with the text of a named file in place of its path."""
        if not isinstance(arguments, dict):
            return arguments
        path, rest = arguments.get("path"), {key: value for key, value in arguments.items() if key != "path"}
        if path is None:
            return rest
        if not isinstance(path, str) or rest.get("content") is not None or rest.get("entries") is not None:
            problem = "a plan is either entries, content or the path of a file"
            raise ToolError("invalid_arguments", problem, "give exactly one of entries, content and path")
        cap = FILE_CAP if self._options["oversize"] == TRUNCATE else BODY_CAP
        return {**rest, "content": read_plan_file(path, self._folders, cap)}


def _refuse_expecting(journal: Journal, session: str, arguments: Any, once: Once | None) -> None:
    """Refuse a call that expects a revision while the journal's server is away and the revision is unknown. The server
    may have gone during the call."""
    if _expects(arguments) and is_away(journal):
        if once and is_lost(journal, session, once):
            raise EngineAway(f"{why_away(journal)}. {NOT_KNOWN}")
        problem = f"the plan's revision can't be checked now: {why_away(journal)}"
        raise ToolError("engine_away", problem, "call again without expected_revision, or later")


def _expects(arguments: Any) -> bool:
    return isinstance(arguments, dict) and arguments.get("expected_revision") is not None


def _once(by: str, call_id: str) -> Once:
    """The key of a call. Hosts may give any id, even half of a surrogate pair."""
    return Once(f"call:{by}:{call_id}".encode(errors="backslashreplace").decode(), 0)
