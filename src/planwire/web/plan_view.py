"""A plan as people see it: its name, how far it is, why it is as it is, and its steps or its text."""

from functools import lru_cache
from typing import Final

import msgspec

from planwire.events import APPROVED
from planwire.fold import AGENT, Delta, PlanRecord, Review
from planwire.markdown import parse
from planwire.moments import plan_name, wish_words
from planwire.plan import FilePlan, ItemsPlan, MarkdownPlan, OtherPlan
from planwire.sight.files import FileText
from planwire.steps import PlanState
from planwire.web.addresses import plan_address, session_address
from planwire.web.editors import editor_link
from planwire.web.html import EMPTY, Html, el, escaped, joined
from planwire.web.parts import Part, leaf
from planwire.web.prose import prose
from planwire.web.steps_view import LONG, progress_view, steps_part
from planwire.web.times import moment

__all__ = ["Shown", "plan_part"]

#: How many notes are shown, the newest first. The history has them all.
NOTES: Final = 3
#: A text with tasks that is longer than this is shown as its steps.
LONG_TEXT: Final = 20_000
LONG_LINE: Final = 160


class Shown(msgspec.Struct, frozen=True):
    """How a plan is to be shown: where, as a window or `whole`, of an agent that stopped, with what opens files, and
    with what the agent said when it set the plan."""

    session: str
    part_id: str
    stopped: bool = False
    whole: bool = False
    editor: str | None = None
    live: bool = True
    said: str | None = None


class _Box:
    """A record and its file, compared by identity: they hold dicts, and every change makes a new one."""

    __slots__ = ("file", "record")

    def __init__(self, record: PlanRecord, file: FileText | None) -> None:
        self.record = record
        self.file = file

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Box) and self.record is other.record and self.file is other.file

    def __hash__(self) -> int:
        return hash((id(self.record), id(self.file)))


def plan_part(shown: Shown, record: PlanRecord, file: FileText | None = None) -> Part:
    """A plan as a part of a page. The same plan, shown the same way, is the same part."""
    return _plan_part(shown, _Box(record, file))


@lru_cache(maxsize=1_024)
def _plan_part(shown: Shown, box: _Box) -> Part:
    record, file = box.record, box.file
    kind = record.state.plan.kind if file is None else "file"
    part_id = shown.part_id
    start = Html(f'<article id="{part_id}" class="plan kind-{kind}" aria-labelledby="{part_id}-name">')
    children = (
        _head(shown, record, file),
        _progress(shown, record),
        _why(shown, record),
        _body(shown, record, file),
    )
    return Part(part_id, start, tuple(child for child in children if child is not None), Html("</article>"))


def _head(shown: Shown, record: PlanRecord, file: FileText | None) -> Part:
    state = record.state
    part_id = shown.part_id
    name, subtitle = names(state, file)
    title = el("h2", el("bdi", name), id=f"{part_id}-name")
    tags = [el("span", subtitle, class_="tag", dir="auto")] if subtitle else []
    if record.removed:
        tags.append(el("span", "dismissed", class_="tag tag-cancelled"))
    if record.version > 1 and record.owner != AGENT:  # an agent sends a version with every step
        tags.append(el("span", f"version {record.version}", class_="tag"))
    if record.mode:
        tags.append(el("span", record.mode, class_="tag"))
    inside = el("div", title, *tags, class_="plan-title"), _actions(shown, record, file)
    return leaf(f"{part_id}-head", el("header", *inside, id=f"{part_id}-head", class_="plan-head"))


def _progress(shown: Shown, record: PlanRecord) -> Part | None:
    if not record.state.steps:
        return None
    part_id = f"{shown.part_id}-progress"
    return leaf(part_id, progress_view(record.state.progress, plan_name(record.state.plan.id), part_id))


def names(state: PlanState, file: FileText | None) -> tuple[str, str]:
    """What a plan is called, and what is said beside it."""
    plan = state.plan
    own = "Plan" if plan.id is None else plan.id
    match plan:
        case MarkdownPlan(content=content):
            title = parse(content).title[:200]
            if file is not None:
                return title or own, "file"
            kind = "text" if state.steps else "proposal"
            return (title, own if plan.id and own.casefold() != title.casefold() else kind) if title else (own, kind)
        case OtherPlan(type=kind):
            return own, kind
        case FilePlan():
            return own, "file"
    return own, ""


def _actions(shown: Shown, record: PlanRecord, file: FileText | None) -> Html:
    plan_id = record.state.plan.id
    markdown = plan_address(shown.session, plan_id, ".md")
    links = []
    link = editor_link(shown.editor, file.path) if file is not None and file.path and not file.problem else None
    if link:
        links.append(el("a", "Open in editor", href=link, class_="action"))
    if shown.live:
        links.append(el("a", "Copy", href=markdown, class_="action", data_copy=markdown))
        links.append(el("a", "Export", href=markdown, download=f"{_file_name(plan_id)}.md", class_="action"))
    if shown.whole:
        links.append(el("a", "Back to the session", href=session_address(shown.session), class_="action"))
    return el("nav", *links, class_="actions", aria_label=f"actions for {plan_name(plan_id)}")


def _file_name(plan_id: str | None) -> str:
    kept = "".join(sign if sign.isalnum() and sign.isascii() else "-" for sign in plan_id or "plan").strip("-")
    return kept[:60] or "plan"


def _why(shown: Shown, record: PlanRecord) -> Part | None:
    """Why the plan is as it is: what its author said of it, notes since, wishes, and the last review."""
    rows = []
    if record.summary:
        rows.append(_reason("Why", escaped(record.summary), None, None))
    if shown.said:
        rows.append(_reason("Thinking", _folded(shown.said), None, None))
    rows += [_reason("Note", escaped(each.note), each.by, each.at) for each in reversed(record.deltas) if each.note][
        :NOTES
    ]
    rows += [_wish(record, wish) for wish in record.wishes]
    if record.review is not None:
        rows.append(_review(record, record.review))
    if not rows:
        return None
    return leaf(f"{shown.part_id}-why", el("dl", *rows, id=f"{shown.part_id}-why", class_="why"))


def _reason(name: str, text: Html, by: str | None, at: int | None, kind: str = "") -> Html:
    origin = joined(" — ", by, " ", moment(at)) if by is not None and at is not None else EMPTY
    words = el("dd", el("span", text, dir="auto"), el("span", origin, class_="origin") if origin else None)
    return el("div", el("dt", name), words, class_=f"reason {kind}".strip())


def _folded(text: str) -> Html:
    """A long text with its first line in sight."""
    first, _, rest = text.partition("\n")
    if len(first) > LONG_LINE:
        first, rest = f"{first[:LONG_LINE]} …", text
    return el("details", el("summary", first), rest) if rest else escaped(first)


def _wish(record: PlanRecord, wish: Delta) -> Html:
    words = [word.text for word in wish_words(record.state, wish.changes)]
    return _reason(
        "Wished", escaped("; ".join([*words, *([wish.note] if wish.note else [])])), wish.by, wish.at, "wish"
    )


def _review(record: PlanRecord, review: Review) -> Html:
    approved = review.verdict == APPROVED
    words = ["approved" if approved else review.verdict.replace("_", " ")]
    if review.selected is not None:
        words.append(f"to run: {', '.join(review.selected) or 'nothing'}")
    words += [comment.text for comment in review.comments if comment.step is None]
    if record.review_is_stale:
        words.append("the plan has changed since")
    return _reason("Review", escaped(" · ".join(words)), review.by, review.at, "approved" if approved else "asked")


def _body(shown: Shown, record: PlanRecord, file: FileText | None) -> Part:
    state = record.state
    part_id = f"{shown.part_id}-body"
    if file is not None and (file.problem or file.state is None):
        return leaf(part_id, el("div", el("p", file.problem or ""), el("code", file.uri), id=part_id, class_="problem"))
    match state.plan:
        case OtherPlan(fields=fields):
            text = msgspec.json.format(msgspec.json.encode(fields), indent=2).decode()
            return leaf(
                part_id, el("pre", text, id=part_id, class_="raw", tabindex=0, role="region", aria_label="fields")
            )
        case FilePlan(uri=uri):
            return leaf(part_id, el("p", el("code", uri), id=part_id, class_="problem"))
        case MarkdownPlan(content=content) if shown.whole or not _is_long(state, content):
            text = prose(content, state.steps, f"{shown.part_id}-", shown.stopped)
            return leaf(part_id, el("div", text, id=part_id, class_="text"))
        case ItemsPlan() if not state.steps:
            return leaf(part_id, el("p", "Nothing on the list.", id=part_id, class_="nothing"))
    more = None if shown.whole else plan_address(shown.session, state.plan.id)
    return steps_part(shown.part_id, state.steps, shown.stopped, more, _comments(record))


def _is_long(state: PlanState, content: str) -> bool:
    return bool(state.steps) and (len(state.steps) > LONG or len(content) > LONG_TEXT)


def _comments(record: PlanRecord) -> dict[str, str]:
    """What the last reviewer said of single steps."""
    if record.review is None:
        return {}
    return {comment.step: comment.text for comment in record.review.comments if comment.step is not None}
