"""Files that `planwire export` wrote, read back as events: a whole session, or the plans of a document."""

from msgspec.structs import replace

from planwire.journal.protocol import Stamped
from planwire.journal.session_file import Exported, read_export
from planwire.model.decide import decided
from planwire.model.events import PlanSet, with_way
from planwire.model.plan import MAIN, MarkdownPlan
from planwire.model.records import AGENT, USER, SessionState
from planwire.readmodel.as_markdown import plan_texts, session_in


def read_import(data: bytes, name: str, now: int, way: str = "") -> Exported:
    """The session in a file. A document has its plans and no past: they are set by the person who imports it, `now`.
    Acts of people that name no way came by this one."""
    text = data.decode(errors="replace")
    session = session_in(text)
    if session is None:
        exported = read_export(data, name)
        acts = (
            each if each.by == AGENT else replace(each, event=with_way(each.event, way)) for each in exported.events
        )
        return exported._replace(events=tuple(acts))
    plans = enumerate(plan_texts(text), start=1)
    named = (MarkdownPlan(MAIN if number == 1 else f"{MAIN}-{number}", each) for number, each in plans)
    events = (with_way(decided(SessionState(session), PlanSet(each), USER), way) for each in named)
    return Exported(session, tuple(Stamped(now, USER, each) for each in events))
