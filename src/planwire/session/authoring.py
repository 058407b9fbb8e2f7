"""An agent's author changes plans: the acts of the model's tools, as typed methods.

The tools' rules apply. Errors are raised, where a model would read them in an answer.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from msgspec.structs import asdict

from planwire.chat.adopt import Adopted
from planwire.chat.roles import MODE_SWITCH
from planwire.chat.subkinds import event_message
from planwire.errors import BadMessage, PlanError
from planwire.model.events import MessagePinned
from planwire.model.file_texts import address_of, seen_files
from planwire.model.plan import Entry, Fields, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan, Plan
from planwire.model.records import FILE, PlanRecord
from planwire.session.live_history import LiveHistory
from planwire.session.options import SessionOptions
from planwire.session.tool_calls import ToolCalls
from planwire.tools.plan_files import plan_file_path, read_plan_file
from planwire.tools.schemas import REMOVE_PLAN, SET_PLAN, UPDATE_PLAN

#: A step to add: its text, or an `Entry`, or a mapping with `content`, `priority`, `status` and, in a change, `after`.
NewStep: TypeAlias = str | Entry | Mapping[str, Any]
#: A plan to set: the text of a markdown plan, the steps of a list, or a plan as a value.
NewPlan: TypeAlias = str | Plan | Iterable[NewStep]


class Authoring(ABC):
    """The typed methods of a session. Without `plan_id`, a method is about the session's own plan."""

    _view: LiveHistory
    _calls: ToolCalls
    _options: SessionOptions

    @abstractmethod
    def _settle(self) -> None:
        """Record what the caller got before."""

    @abstractmethod
    def add(self, *messages: Any) -> list[str]: ...

    def set(
        self,
        plan: NewPlan,
        *,
        plan_id: str | None = None,
        summary: str | None = None,
        parent: str | None = None,
        expected_revision: int | None = None,
    ) -> PlanRecord:
        """Make a plan, or replace one as a whole: from a markdown text, from steps, or from a plan as a value. `parent`
        is the step that it works for, as `s2` or `other-plan#s2`."""
        match plan:
            case FilePlan(uri=uri):
                return self.file(uri, plan_id=plan_id or plan.id, summary=summary)
            case ItemsPlan(entries=entries):
                body: Fields = {"entries": _listed(entries)}
                plan_id = plan_id or plan.id
            case MarkdownPlan(content=content):
                body, plan_id = {"content": content}, plan_id or plan.id
            case str():
                body = {"content": plan}
            case OtherPlan(type=kind):
                raise PlanError(f"a plan of kind {kind!r} can only come over the wire: set entries or a text")
            case _:
                body = {"entries": _listed(plan)}
        words = {"plan_id": plan_id, "summary": summary, "parent": parent, "expected_revision": expected_revision}
        return self._act(SET_PLAN, {**body, **_given(words), "replace": True})

    def change(
        self,
        plan_id: str | None = None,
        *,
        steps: Mapping[str, str] | None = None,
        add: Iterable[NewStep] | NewStep | None = None,
        reword: Mapping[str, str] | None = None,
        priority: Mapping[str, str] | None = None,
        move: Mapping[str, str] | None = None,
        remove: Iterable[str] | str | None = None,
        answers: Mapping[str, str] | None = None,
        note: str | None = None,
        expected_revision: int | None = None,
    ) -> PlanRecord:
        """Change steps of a plan, all as given or none: statuses by step id, new steps, texts, priorities, places
        (`move={"s3": "s1"}` puts s3 after s1), steps to remove; answer remarks; add a note."""
        words = {
            "plan_id": plan_id,
            "steps": _plain(steps),
            "add": _listed(add),
            "reword": _plain(reword),
            "priority": _plain(priority),
            "move": _plain(move),
            "remove": _listed(remove),
            "answers": _plain(answers),
            "note": note,
            "expected_revision": expected_revision,
        }
        return self._act(UPDATE_PLAN, _given(words))

    def note(self, text: str, *, plan_id: str | None = None) -> PlanRecord:
        """Add a note to a plan. Notes belong to the plan and stay through all its versions."""
        return self.change(plan_id, note=text)

    def remove(self, plan_id: str | None = None, *, reason: str | None = None) -> None:
        """Remove a plan from clients and model. Its history stays, with the reason as its last note, and people can
        reopen it."""
        self._act(REMOVE_PLAN, _given({"plan_id": plan_id, "reason": reason}))

    def file(self, path: str | Path, *, plan_id: str | None = None, summary: str | None = None) -> PlanRecord:
        """Make a plan from a markdown file that planwire follows: its current checkboxes are the steps. The file must
        be in the session's folders, from which a relative path is meant."""
        place = plan_file_path(str(path), self.plan_folders)
        read_plan_file(str(place), self.plan_folders)
        arguments = _given({"plan_id": plan_id, "summary": summary, "replace": True})
        with self._view.lock:
            record = self._act(SET_PLAN, arguments, place.as_uri())
            self._look_at_files()
            return self._view.state.plans[record.state.plan.id]

    def _look_at_files(self) -> None:
        """Record the text of plan files where it changed."""
        if any(address_of(each.state.plan) is not None for each in self._view.state.live().values()):
            self._view.write(lambda state: [Adopted(each, FILE) for each in seen_files(state, self.read_file)])

    @abstractmethod
    def read_file(self, uri: str) -> str | None:
        """The text of a plan file of this session."""

    @property
    @abstractmethod
    def plan_id(self) -> str:
        """The plan of a call that names none."""

    @property
    @abstractmethod
    def plan_folders(self) -> tuple[str | Path, ...]:
        """The folders whose plan files may be read."""

    def event(self, subkind: str, /, content: str = "", *, source: str = "", **payload: Any) -> str:
        """Put a hidden event into the chat: what happened (`subkind`), where, and its payload. `from_` stands for
        `from`, which is a Python keyword. Returns the message's id."""
        return self.add(event_message(subkind, content, source, payload))[0]

    def pin(self, message_id: str, *, pinned: bool = True) -> None:
        """Pin a message, so that a compaction takes it last, or unpin it."""
        reader = self._view.reader

        def prepare(_: object) -> list[MessagePinned]:
            if not self._view.stream.holds(message_id):
                raise BadMessage(f"the chat has no message {message_id!r}: `add` returns the ids of messages")
            return [MessagePinned(message_id, pinned, reader)]

        self._view.write(prepare)

    def think(self, text: str) -> None:
        """Keep what the model thought and said before its next plan or change, for people to read with that change, on
        this machine only. A chat that the session keeps needs no `think`: the text is there already."""
        _check_text("a thought", text)
        self._calls.think(text)

    def switch_mode(self, mode: str, reason: str = "") -> None:
        """Switch to another mode, and record that in the chat."""
        _check_text("a mode", mode)
        before = self._view.state.mode or self._options["mode"]
        self._options["mode"] = mode
        if before != mode:
            self.event(MODE_SWITCH, from_=before, to=mode, **({"reason": reason} if reason else {}))

    def _act(self, tool: str, arguments: Fields, uri: str = "") -> PlanRecord:
        """Do what a tool call does, and return the plan after it. Errors are raised."""
        with self._view.lock:
            self._settle()
            self._calls.act(tool, arguments, uri)
            return self._view.state.plans[arguments.get("plan_id") or self.plan_id]


def _given(words: Fields) -> Fields:
    return {key: word for key, word in words.items() if word is not None}


def _plain(mapping: Mapping[str, str] | None) -> Any:
    """A mapping as a JSON object. Anything else goes to the tools unchanged, whose rules say what is wrong with it."""
    return dict(mapping) if isinstance(mapping, Mapping) else mapping


def _listed(steps: Any) -> Any:
    """Steps as a JSON list; a single step becomes a list of one."""
    if isinstance(steps, str | Entry | Mapping):
        return [_step(steps)]
    return [_step(each) for each in steps] if isinstance(steps, Iterable) else steps


def _step(step: NewStep) -> Any:
    if isinstance(step, Entry):
        return {key: word for key, word in asdict(step).items() if key in ("content", "priority", "status") and word}
    return dict(step) if isinstance(step, Mapping) else step


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a text, not {_kind(value)}: {value!r}")


def _kind(value: object) -> str:
    return type(value).__name__
