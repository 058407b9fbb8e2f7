"""A plan on a page: its name, its progress, the reasons for it, and its steps or its text."""

from functools import lru_cache
from operator import is_
from typing import Final, NamedTuple
from urllib.parse import quote

import msgspec

from planwire.model.fold import AGENT, PlanRecord
from planwire.model.kinds import content_of, kind_of, noun_of, text_of, title_of
from planwire.model.plan import FilePlan
from planwire.model.steps import PlanState
from planwire.readmodel.followed_files import FileText
from planwire.readmodel.history import plan_name
from planwire.web.addresses import plan_address, session_address
from planwire.web.annotations_view import said_part, step_annotations, why_part
from planwire.web.frame import action
from planwire.web.html import Html, el
from planwire.web.page_tree import Part, branch, leaf
from planwire.web.prose import prose
from planwire.web.steer_view import actions_part, asked_part, revision_part, steer_values
from planwire.web.steps_view import LONG, StepList, progress_view, steps_part

__all__ = ["EDITORS", "Shown", "editor_link", "names", "plan_part"]

#: Length from which on a page shows the steps of a text instead of the text.
LONG_TEXT: Final = 20_000
LONGEST_TITLE: Final = 200
#: The beginning of an editor's links; the quoted path follows.
EDITORS: Final = {
    "vscode": "vscode://file",
    "vscodium": "vscodium://file",
    "cursor": "cursor://file",
    "windsurf": "windsurf://file",
    "zed": "zed://file",
    "idea": "idea://open?file=",
    "sublime": "subl://open?url=file://",
}


class Shown(msgspec.Struct, frozen=True):
    """The way to show a plan: where, `whole` or as a window, of an agent that stopped, with an editor for files, and
    with the agent's words when it set the plan. `client` is the program in front of the agent."""

    session: str
    part_id: str
    stopped: bool = False
    whole: bool = False
    editor: str | None = None
    live: bool = True
    said: str | None = None
    client: str | None = None


class _Key(NamedTuple):
    """A key for the cache: values compared by identity. They hold dicts, and every change makes a new one."""

    record: PlanRecord
    file: FileText | None
    before: PlanRecord | None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and all(map(is_, self, other))

    def __hash__(self) -> int:
        return hash(tuple(map(id, self)))


def plan_part(shown: Shown, record: PlanRecord, file: FileText | None = None, before: PlanRecord | None = None) -> Part:
    """A plan as a part of a page. The same plan, shown the same way, is the same part. `before` is the plan that the
    agent's question compares with, if it asks."""
    return _plan_part(shown, _Key(record, file, before))


@lru_cache(maxsize=1_024)
def _plan_part(shown: Shown, key: _Key) -> Part:
    record, file, before = key
    kind = record.state.plan.kind if file is None else FilePlan.kind
    part_id = shown.part_id
    in_file = file is not None
    steerable = shown.live and not record.removed
    values = steer_values(shown.session, record, in_file=in_file) if steerable else {}
    children = (
        _head(shown, record, file),
        asked_part(part_id, record, before, shown.client, in_file=in_file) if steerable else None,
        _progress(shown, record),
        why_part(part_id, record, shown.said),
        _body(shown, record, file),
        said_part(part_id, record, steerable=steerable),
        actions_part(part_id, record, in_file=in_file) if steerable else None,
        revision_part(part_id, record.revision) if steerable else None,
    )
    inside = [child for child in children if child is not None]
    return branch(part_id, "article", inside, class_=f"plan kind-{kind}", aria_labelledby=f"{part_id}-name", **values)


def _head(shown: Shown, record: PlanRecord, file: FileText | None) -> Part:
    state = record.state
    part_id = shown.part_id
    name, subtitle = names(state, file)
    words = el("bdi", name)
    if shown.live and not shown.whole:
        words = el("a", words, href=plan_address(shown.session, state.plan.id))
    title = el("h2", words, id=f"{part_id}-name")
    tags = [el("span", subtitle, class_="tag", dir="auto")] if subtitle else []
    if record.removed:
        tags.append(el("span", "dismissed", class_="tag tag-cancelled"))
    if record.version > 1 and record.owner != AGENT:  # an agent sends a version with every step
        tags.append(el("span", f"version {record.version}", class_="tag"))
    if record.mode:
        tags.append(el("span", record.mode, class_="tag"))
    inside = el("div", title, *tags, class_="plan-title"), _actions(shown, record, file)
    return leaf(f"{part_id}-head", "header", *inside, class_="plan-head")


def _progress(shown: Shown, record: PlanRecord) -> Part | None:
    if not record.state.steps:
        return None
    part_id = f"{shown.part_id}-progress"
    return Part(part_id, progress_view(record.state.progress, plan_name(record.state.plan.id), part_id))


def names(state: PlanState, file: FileText | None) -> tuple[str, str]:
    """The name of a plan, and the words beside it."""
    plan, kind = state.plan, kind_of(state.plan)
    own = "Plan" if plan.id is None else plan.id
    if not kind.is_text:
        return own, "" if kind.has_editable_steps else noun_of(plan)
    title = title_of(plan)[:LONGEST_TITLE]
    if file is not None:
        return title or own, "file"
    noun = "text" if state.steps else kind.noun
    return (title, own if plan.id and own.casefold() != title.casefold() else noun) if title else (own, noun)


def _actions(shown: Shown, record: PlanRecord, file: FileText | None) -> Html:
    plan_id = record.state.plan.id
    markdown = plan_address(shown.session, plan_id, ".md")
    links = []
    link = editor_link(shown.editor, file.path) if file is not None and file.path and not file.problem else None
    if link:
        links.append(action("Open in editor", link))
    if shown.live:
        links.append(action("Copy", markdown, data_copy=markdown))
        links.append(action("Export", markdown, download=f"{_file_name(plan_id)}.md"))
    if shown.whole:
        links.append(action("Back to session", session_address(shown.session)))
    return el("nav", *links, class_="actions", aria_label=f"actions for {plan_name(plan_id)}")


def editor_link(editor: str | None, path: str) -> str | None:
    """The link that opens a file in an editor on this machine, with the scheme that the editor registers for it; None
    without an editor."""
    if editor is None:
        return None
    safe = "" if "?" in EDITORS[editor] else "/"
    return EDITORS[editor] + quote(path, safe=safe)


def _file_name(plan_id: str | None) -> str:
    kept = "".join(sign if sign.isalnum() and sign.isascii() else "-" for sign in plan_id or "plan").strip("-")
    return kept[:60] or "plan"


def _body(shown: Shown, record: PlanRecord, file: FileText | None) -> Part:
    state = record.state
    part_id = f"{shown.part_id}-body"
    steerable = shown.live and not record.removed
    annotations = step_annotations(record, steerable=steerable)
    usable = steerable and file is None
    whole = shown.whole or (shown.live and record.asked is not None)
    if file is not None and (file.problem or file.state is None):
        return leaf(part_id, "div", el("p", file.problem or ""), el("code", file.uri), class_="problem")
    kind, text = kind_of(state.plan), text_of(state.plan)
    if kind.field is None:
        text = msgspec.json.format(msgspec.json.encode(content_of(state.plan)), indent=2).decode()
        return leaf(part_id, "pre", text, class_="raw", tabindex=0, role="region", aria_label="fields")
    if not kind.has_editable_steps:
        return leaf(part_id, "p", el("code", text), class_="problem")
    is_long = state.steps and (len(state.steps) > LONG or len(text) > LONG_TEXT)
    if kind.is_text and (whole or not is_long):
        html = prose(text, state.steps, f"{shown.part_id}-", shown.stopped, annotations, usable=usable)
        return leaf(part_id, "div", html, class_="text")
    if not state.steps and not annotations.added:
        return leaf(part_id, "p", "Nothing on the list.", class_="nothing")
    more = None if whole else plan_address(shown.session, state.plan.id)
    return steps_part(StepList(shown.part_id, shown.stopped, usable, more), state.steps, annotations)
