"""An agent's lines, as a client of another dialect would be sent them.

A line that needs no translation leaves as the very bytes that came, with the key that it came with.
"""

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from planwire.acp.conversation import AGENT, Conversation, Retelling
from planwire.acp.dialects import MAIN, Dialect
from planwire.acp.lower import Fallback
from planwire.acp.messages import Extension, Removal, Update
from planwire.acp.read import read
from planwire.acp.write import write, write_update
from planwire.plan import FilePlan, ItemsPlan, MarkdownPlan, OtherPlan, Plan, PlanId

__all__ = ["Translator"]

#: What is wrong with an entry that planwire mends and other readers drop without a word.
_DROPPED_BY_OTHERS = frozenset(("entry-not-an-object", "no-content", "no-priority", "no-status", "not-quite-json"))
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Translator:
    """Turns the lines of one connection. Feed it both sides' lines: what the client asks for changes what is sent."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self._conversation = Conversation()
        self._plans: dict[tuple[str | None, PlanId], Plan] = {}
        self._fallbacks: dict[str | None, Fallback] = {}

    def translate(self, line: bytes, sender: str | None = None) -> tuple[bytes, ...]:
        """The lines to send for a line: most often just itself."""
        if line.removeprefix(_BYTE_ORDER_MARK).lstrip()[:1] == b"[":
            return self._translate_batch(line, sender)
        return self._translate_message(line, sender)

    def _translate_message(self, line: bytes, sender: str | None) -> tuple[bytes, ...]:
        reading = read(line)
        for message in reading.messages:
            meaning = self._conversation.hear(message, sender)
            if isinstance(meaning, Retelling):
                self._fallback(meaning.session).retell()
        if not reading.updates:
            return (line,)
        mended = any(report.code in _DROPPED_BY_OTHERS for report in reading.reports)
        return self._translate_update(line, reading.updates[0], mended=mended)

    def sender_of(self, line: bytes) -> str | None:
        """Who sent a line, as far as it can be told from the line and from what was translated before it."""
        reading = read(line)
        if reading.updates:
            return AGENT
        return self._conversation.sender_of(reading.messages[0]) if reading.messages else None

    def _translate_batch(self, line: bytes, sender: str | None) -> tuple[bytes, ...]:
        try:
            batch = msgspec.json.decode(line.removeprefix(_BYTE_ORDER_MARK), type=list[Raw])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return (line,)
        messages = [bytes(message) for message in batch]
        translated = [out for message in messages for out in self._translate_message(message, sender)]
        if translated == messages:
            return (line,)
        return (b"[%b]" % b",".join(translated),) if translated else ()

    def _translate_update(self, line: bytes, update: Update, *, mended: bool) -> tuple[bytes, ...]:
        whole = self._with_whole_text(update)
        if self.dialect.operations:
            if whole.body is None or (whole is update and not mended and self._is_understood(update)):
                return (line,)
            return (write(self._with_free_id(whole), self.dialect),)
        fallback = self._fallback(update.session)
        match whole.body:
            case Removal(id=plan_id):
                updates = fallback.remove(plan_id)
            case ItemsPlan() | MarkdownPlan() | FilePlan() | OtherPlan() as plan:
                updates = fallback.put(plan)
                if update.sort == "plan" and isinstance(plan, ItemsPlan) and not mended:
                    if fallback.entries() == [*plan.entries]:
                        return (line,)
            case _:  # it can't be used: a v1 client may see what is v1, and nothing else
                return (line,) if update.sort == "plan" else ()
        around = update.around
        return tuple(write_update(update.session, (around.update or {}) | fields, around) for fields in updates)

    def _fallback(self, session: str | None) -> Fallback:
        return self._fallbacks.setdefault(session, Fallback())

    def _with_whole_text(self, update: Update) -> Update:
        """The update with a plan that is whole: streamed text is put to the end of what there is."""
        body = update.body
        if isinstance(body, Extension):
            before = self._plans.get((update.session, body.id))
            text = before.content if isinstance(before, MarkdownPlan) else ""
            meta = before.meta if isinstance(before, MarkdownPlan) else None
            body = MarkdownPlan(body.id, text + body.text, meta)
            update = replace(update, body=body)
        if isinstance(body, Removal):
            self._plans.pop((update.session, body.id), None)
        elif body is not None:
            self._plans[update.session, body.id] = body
        return update

    def _with_free_id(self, update: Update) -> Update:
        """The plan without an id gets another one than `main` where a plan of that name lives beside it."""
        body = update.body
        if isinstance(body, Extension | Removal | None) or body.id is not None:
            return update
        if update.sort == "plan" and self.dialect.baseline:
            return update
        taken = (update.session, MAIN) in self._plans
        return replace(update, body=replace(body, id=f"{MAIN} (no id)" if taken else MAIN))

    def _is_understood(self, update: Update) -> bool:
        """Whether a client of the dialect reads the line as it is."""
        if update.sort == "plan":
            spelled = self.dialect.baseline
        else:
            spelled = any(key in self.dialect.id_keys for key in update.id_keys)
        if isinstance(update.body, ItemsPlan):
            return spelled and all(self.dialect.keeps(entry) for entry in update.body.entries)
        return spelled
