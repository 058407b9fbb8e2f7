"""Translation: an agent's lines for a client of another dialect.

A line that needs no translation leaves byte for byte, with the spelling of the id that it came with. Rewriting it
would say the same by our reading, and our reading is not the only one: JSON has several spellings of one number, one
string and one object, an agent may sign what it sends, and a client may depend on a field that planwire would file
elsewhere. planwire cannot break what it does not touch, so a defect between an agent and a client can only be the
translator's if a line had to change. That is why `_translate_update` asks twice before it writes: does the client's
dialect read the line as it stands, and did the reader mend anything in it that other readers drop?
"""

from collections.abc import Callable, Mapping, Set
from functools import partial

from msgspec.structs import replace

from planwire.acp.batches import is_batch, split_batch
from planwire.acp.conversation import AGENT, Conversation, Prompted, Retelling, asked_in, spoken_in
from planwire.acp.dialects import Dialect
from planwire.acp.heard_plans import HeardPlans, TooMany
from planwire.acp.lower import Fallback, ListPlace
from planwire.acp.messages import Envelope, Extension, Reading, Removal, Update
from planwire.acp.read import read
from planwire.acp.splice import Unspliceable, spell_member
from planwire.acp.write import write, write_update
from planwire.model.file_texts import no_files
from planwire.model.kinds import entries_of
from planwire.model.plan import MAIN, ItemsPlan, Plan, PlanId

#: Codes of the defects that planwire mends, but for which other readers drop the plan or the entry.
_DROPPED_BY_OTHERS = frozenset(
    (
        "bad-plan-id",
        "entry-not-an-object",
        "no-content",
        "no-plan-type",
        "no-priority",
        "no-status",
        "not-quite-json",
    )
)
#: The id for the plan without one while another plan has the id `main`.
_SECOND_MAIN = f"{MAIN} (no id)"


class Translator:
    """Translates the lines of one connection.

    Feed it the lines of both sides: after the client's `session/load`, for example, texts must go out again.
    `read_file` gives the text of a session's plan file by its URI, or None; without it, no file is read.
    """

    def __init__(self, dialect: Dialect, read_file: Callable[[str | None, str], str | None] | None = None) -> None:
        self.dialect = dialect
        self._read_file = read_file
        self._conversation = Conversation()
        self._heard: dict[str | None, HeardPlans] = {}
        self._names: dict[str | None, PlanId] = {}
        self._fallbacks: dict[str | None, Fallback] = {}
        self._open: set[str | None] = set()  # sessions whose last text may grow, or lacks its blank line

    def translate(self, line: bytes, sender: str | None = None, reading: Reading | None = None) -> tuple[bytes, ...]:
        """The lines to send for a line: mostly the line itself. `reading` saves a second read of a single message."""
        if reading is not None:
            return self._translate_message(line, sender, reading)
        if is_batch(line):
            return self._translate_batch(line, sender)
        return self._translate_message(line, sender, read(line))

    def _translate_message(self, line: bytes, sender: str | None, reading: Reading) -> tuple[bytes, ...]:
        for message in reading.messages:
            sender = sender or self._conversation.sender_of(message)  # once heard, an answer answers nothing any more
            meaning = self._conversation.hear(message, sender)
            if isinstance(meaning, Retelling):
                self.retell(meaning.session)
            elif isinstance(meaning, Prompted):
                self.settle(meaning.session)
        if not reading.updates:
            return (*self._closing(reading, sender), line) if self._open else (line,)
        mended = any(report.code in _DROPPED_BY_OTHERS for report in reading.reports)
        return self._translate_update(line, reading.updates[0], mended=mended)

    def tell(self, update: Update, place: ListPlace | None = None) -> tuple[bytes, ...]:
        """The lines to send for an update that the agent did not send, such as a person's plan next to the agent's."""
        return self._translate_update(b"", update, mended=True, place=place)

    def retell(self, session: str) -> None:
        """Start over with a session whose history the client asks for: every text goes out once more."""
        self._open.discard(session)
        self._fallback(session).retell()

    @property
    def is_open(self) -> bool:
        """Whether some plan's text may grow, or is not yet separated from what its agent says next."""
        return bool(self._open)

    def close(self, session: str | None) -> tuple[bytes, ...]:
        """The lines to send before an agent's words, to separate them from the plan's text before them."""
        if session not in self._open:
            return ()
        self._open.discard(session)
        return tuple(write_update(session, fields) for fields in self._fallback(session).close())

    def complete(self, session: str | None) -> tuple[bytes, ...]:
        """The lines to send before an agent asks something or ends its turn: its texts are whole then."""
        if session not in self._open:
            return ()
        return tuple(write_update(session, fields) for fields in self._fallback(session).complete())

    def end(self) -> tuple[bytes, ...]:
        """The lines to send at the end of input."""
        return tuple(line for session in sorted(self._open, key=str) for line in self.complete(session))

    def settle(self, session: str) -> None:
        """Note a client's prompt, which separates the agent's next words from a plan's text anyway."""
        fallback = self._fallback(session)
        fallback.settle()
        if not fallback.is_open:
            self._open.discard(session)

    def follow(self, session: str, plans: Mapping[PlanId, Plan], ended: Set[PlanId]) -> tuple[bytes, ...]:
        """The lines to send when a journal knows a session's plans, in this order, and which of them have ended.

        A v1 client has only one list, and ended plans do not belong in it."""
        if self.dialect.operations:
            return ()
        return tuple(write_update(session, fields) for fields in self._fallback(session).follow(plans, ended))

    def forget(self, session: str) -> None:
        """Let go of a session: what comes of it later is its beginning."""
        self._open.discard(session)
        for known in (self._heard, self._names, self._fallbacks):
            known.pop(session, None)

    def know(self, session: str | None, plan_id: PlanId, text: str) -> None:
        """Note that the client already shows a plan's text elsewhere, so that no message repeats it."""
        self._fallback(session).know(plan_id, text)

    def sender_of(self, line: bytes) -> str | None:
        """The side that sent a line, judging by it and the lines before it; None if they don't tell."""
        reading = read(line)
        if reading.updates:
            return AGENT
        return self._conversation.sender_of(reading.messages[0]) if reading.messages else None

    def _closing(self, reading: Reading, sender: str | None) -> tuple[bytes, ...]:
        lines: list[bytes] = []
        for message in reading.messages:
            if message.method is None and sender == AGENT:  # a turn or a replay is over
                lines += self.end()
            elif (session := spoken_in(message)) is not None:
                lines += self.close(session)
            elif (session := asked_in(message)) is not None:
                lines += self.complete(session)
        return tuple(lines)

    def _translate_batch(self, line: bytes, sender: str | None) -> tuple[bytes, ...]:
        messages = split_batch(line)
        translated = [out for message in messages for out in self._translate_message(message, sender, read(message))]
        if translated == messages:
            return (line,)
        return (b"[%b]" % b",".join(translated),) if translated else ()

    def _translate_update(
        self, line: bytes, update: Update, *, mended: bool, place: ListPlace | None = None
    ) -> tuple[bytes, ...]:
        whole = self._with_whole_text(update)
        if self.dialect.operations:
            if whole.body is None:
                return (self.spelled(line, update) or line,)
            named, first = self._named(whole)
            if named is None:
                return ()
            spelled = self.spelled(line, update) if named is update and not mended else None
            return (*first, spelled or write(named, self.dialect))
        fallback = self._fallback(update.session)
        match whole.body:
            case Removal(id=plan_id):
                updates = fallback.remove(plan_id)
            case None | Extension():  # nothing to lower: only a v1 `plan` line goes on as it is
                return (line,) if update.tag == "plan" else ()
            case plan:
                updates = fallback.put(plan, place or ListPlace(), is_whole=not line)
                if fallback.is_open:
                    self._open.add(update.session)
                if update.tag == "plan" and not mended and fallback.shows(plan):
                    return (line,)
        envelope = update.envelope
        return tuple(write_update(update.session, (envelope.update or {}) | fields, envelope) for fields in updates)

    def _fallback(self, session: str | None) -> Fallback:
        if session not in self._fallbacks:
            read = partial(self._read_file, session) if self._read_file else no_files
            self._fallbacks[session] = Fallback(read, streams=True)
        return self._fallbacks[session]

    def _plans(self, session: str | None) -> HeardPlans:
        """The plans of a session. Replays count like news here: a client that asks for history must get it."""
        return self._heard.setdefault(session, HeardPlans())

    def _with_whole_text(self, update: Update) -> Update:
        """The update with its whole plan: a piece of text comes joined to the text that it extends.

        A plan beyond the limit still goes to a client that keeps plans by id: only such a client can use it.
        """
        heard = self._plans(update.session).hear(update.body)
        if isinstance(heard, TooMany):
            passes = self.dialect.operations and not isinstance(update.body, Extension)
            return update if passes else replace(update, body=None)
        if isinstance(update.body, Extension) and heard is not None:
            return replace(update, body=heard.plan)
        return update

    def _named(self, update: Update) -> tuple[Update | None, tuple[bytes, ...]]:
        """The update, with an id if its plan needs one, and the lines that must go out before it.

        The plan without an id becomes `main` (R27), or `main (no id)` while the agent has another plan called `main`.
        Returns None for the removal of a `main` that the agent never sent, because the client would remove the plan
        that only borrows this name.
        """
        session, body = update.session, update.body
        if isinstance(body, Extension | None):
            return update, ()
        if body.id is not None:
            if body.id != MAIN or self._names.get(session) != MAIN:
                return update, ()
            if isinstance(body, Removal):
                return None, ()
            self._names[session] = _SECOND_MAIN
            unnamed = self._plans(session).plans.get(None)
            return update, (self._written(replace(unnamed, id=_SECOND_MAIN), update),) if unnamed else ()
        had_it, had = session in self._names, self._names.get(session)
        name: PlanId = None
        if entries_of(body) is None or not self.dialect.baseline:
            name = had or (_SECOND_MAIN if MAIN in self._plans(session).plans else MAIN)
        self._names[session] = name
        first: tuple[bytes, ...] = ()
        if had_it and had != name:  # from a `plan` to a plan with an id, or back
            first = (self._written(ItemsPlan(None, ()) if had is None else Removal(had), update),)
        return update if name is None else replace(update, body=replace(body, id=name)), first

    def _written(self, body: Plan | Removal, like: Update) -> bytes:
        envelope = Envelope(bare=like.envelope.bare)
        return write(Update(like.session, "plan_update", body, envelope=envelope), self.dialect)

    def spelled(self, line: bytes, update: Update) -> bytes | None:
        """The line of an update as a client of the dialect reads it, if that takes at most another spelling of the
        plan's id, which is spliced in. None if the line has to be written anew."""
        if not self.dialect.knows(update.body) or not all(map(self.dialect.keeps, entries_of(update.body) or ())):
            return None
        if update.tag == "plan":
            return line if self.dialect.baseline else None
        if set(self.dialect.id_keys) <= set(update.id_keys):
            return line
        path = () if update.envelope.bare else ("params", "update")
        if update.tag == "plan_update":
            path = (*path, "plan")
        try:
            return spell_member(line, path, update.id_keys[0], self.dialect.id_keys) if update.id_keys else None
        except Unspliceable:
            return None
