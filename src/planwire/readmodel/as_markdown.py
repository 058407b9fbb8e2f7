"""Sessions and plans as markdown: one document for people, models, copies and exports.

Each status has a box of its own (`[ ]`, `[~]`, `[x]`, `[-]`); a status without one follows its step in words. A plan
that is a text is that text.

Every line of planwire's own begins with a mark and a space, which also stand between its words and other people's. No
author's text can imitate that: there the mark, also as a character reference, and whatever a terminal would obey, is
spelled as `◈{1b}`. `plan_texts` undoes this, and gives back each text byte for byte. A text that would swallow what
comes after it, such as an open comment or `<details>`, stands in a fence.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from markdown_it import MarkdownIt

from planwire.model.events import SELECTION
from planwire.model.plan import MEDIUM
from planwire.model.statuses import DEFAULT_STATUS, STATUSES, status_of
from planwire.model.text import unwrapped
from planwire.readmodel.card import PlanCard, RemarkCard, ReviewCard, StepRow, open_word
from planwire.readmodel.plain_text import spelled_out
from planwire.readmodel.plan_tree import below_words
from planwire.readmodel.shown import ShownSession

#: The text for a step without one, since a checkbox needs some text.
_NO_TEXT: Final = "(no text)"
#: The mark of planwire's own lines and words.
MARK: Final = "◈"
_FENCED: Final = f"{MARK} in a fence, since it would swallow what comes after it"
_OWN: Final = re.compile(rf"(?:#+ |> | *- )?{MARK}(?: |$)")
#: The mark as markdown spells it, too.
_REFERENCE: Final = re.compile("&(?=#(?:0*9672|x0*25c8);)", re.IGNORECASE)
#: HTML that holds, hides, links or strikes out what comes after it, until it is closed.
_HOLDING: Final = re.compile(
    r"<(/?)(a|del|details|dialog|div|math|s|select|span|strike|svg|table|template|textarea)\b", re.IGNORECASE
)
_SPELLED: Final = re.compile(rf"{MARK}\{{((?:10|[0-9a-f])?[0-9a-f]{{1,4}})\}}")
_DETAILS: Final = re.compile(rf"(?m) {MARK} .*$")
_SESSION: Final = re.compile(rf"\A# {MARK} .*\n\n{MARK} session (.*?)(?: {MARK} .*)?\n")


def session_markdown(session: ShownSession) -> str:
    """The live plans of a session, each under a heading of its own."""
    glance = session.glance
    facts = [f"session {_words(session.id)}", *map(_words, filter(None, (glance.agent, glance.cwd)))]
    parts = [f"# {_own(_words(glance.title or 'Plans'))}", _own(*facts, f"revision {glance.last_seq}")]
    cards = session.cards()
    for card in cards:
        done = [f"{card.progress.done}/{card.progress.total}"] if card.progress.total else []
        parts.append(f"## {_own(_words(card.title), *done)}")
        parts += [_own(f"for {_words(card.works_for)}")] if card.above else []
        parts += _parts(card, "###")
    return _document(parts if cards else [*parts, _own("No plans.")], cards[-1] if cards else None)


def plan_markdown(card: PlanCard, *, remarks: bool = True) -> str:
    """A plan to read: its text or its steps, and with `remarks` the notes, suggestions and reviews on it."""
    title = [] if card.text else [f"# {_own(_words(card.title))}"]
    return _document([*title, *_parts(card, "##", remarks=remarks)], card)


def plan_texts(document: str) -> list[str]:
    """The texts of the plans in a document, as their authors wrote them. A list comes back as checkboxes."""
    texts: list[str] = []
    chunk: list[str] = []
    own: str | None = None
    for line in [*document.split("\n"), None]:
        if line is not None and not _OWN.match(line):
            chunk.append(line)
            continue
        body = chunk[0 if own is None else 1 : None if line is None else -1]
        body = body[1:-1] if own == _FENCED else body
        if body:
            texts.append(_SPELLED.sub(_read, _DETAILS.sub("", "\n".join(body))))
        own, chunk = line, []
    return texts


def session_in(document: str) -> str | None:
    """The id of the session that a document is about; None if planwire has not written it."""
    found = _SESSION.match(document)
    return _SPELLED.sub(_read, found[1]) if found else None


def _read(found: re.Match[str]) -> str:
    return chr(int(found[1], 16))


def _document(parts: list[str], last: PlanCard | None) -> str:
    """The parts one after the other. A text at the end is there as it is."""
    is_text = last is not None and last.text and not _OWN.match(parts[-1].rpartition("\n")[2])
    return "\n\n".join(parts) + ("" if is_text else "\n")


def _own(*words: str) -> str:
    """A line of planwire's own."""
    return f"{MARK} " + f" {MARK} ".join(words)


def _text(text: str) -> str:
    """An author's text, with nothing in it that is planwire's or a terminal's."""
    lines = _REFERENCE.sub(_spelled("&"), text.replace(MARK, _spelled(MARK))).split("\r\n")
    return "\r\n".join(spelled_out(each, _spelled) for each in lines)


def _words(text: str) -> str:
    """The same in a line, which no fence can hold."""
    return _HOLDING.sub(lambda found: f"{_spelled('<')}{found[0][1:]}", _text(unwrapped(text)))


def _spelled(sign: str) -> str:
    return f"{MARK}{{{ord(sign):x}}}"


def _parts(card: PlanCard, heading: str, *, remarks: bool = True) -> Iterator[str]:
    if card.why and remarks:
        yield "\n".join(f"> {_own(_words(line))}".rstrip() for line in card.why.splitlines())
    yield from _body(card)
    if remarks:
        yield from _section(f"{heading} {_own('Notes')}", (_item(each.by, each.text) for each in card.notes))
        suggestions = (_item(each.by, each.text) for each in card.suggestions)
        yield from _section(f"{heading} {_own('Suggestions')}", suggestions)
        yield from _section(f"{heading} {_own('Remarks')}", map(_remark, card.open_remarks))
        yield from _section(f"{heading} {_own('Closed remarks')}", map(_remark, card.closed_remarks))
        yield from _section(f"{heading} {_own('Verdicts')}", map(_review, card.reviews))


def _body(card: PlanCard) -> Iterator[str]:
    if card.text:
        text = _text(card.text)
        fence = "`" * (max(map(len, re.findall("`+", text)), default=2) + 1)
        yield from (_FENCED, f"{fence}\n{text}\n{fence}") if _is_open(text) else (text,)
    elif card.rows:
        yield "\n".join("  " * row.depth + _task(row) for row in card.rows)
    elif card.uri is not None:
        yield _own(f"<{_words(card.uri)}>")
        yield from [_own(_words(card.problem))] if card.problem else []
    else:
        yield f"```json\n{_text(card.fields)}\n```" if card.fields else _own("Nothing on the list.")


def _is_open(text: str) -> bool:
    """Whether a text would swallow a line that comes after it."""
    tokens = _parser().parse(f"{text}\n\n{MARK}")
    last = [(each.type, each.level, each.content) for each in tokens[-2:]]
    if last != [("inline", 1, MARK), ("paragraph_close", 0, "")]:
        return True
    left: Counter[str] = Counter()
    for token in tokens:
        for each in (token, *(token.children or ())):
            for found in _HOLDING.finditer(each.content if each.type.startswith("html") else ""):
                name = found[2].lower()
                left[name] = max(left[name] + (-1 if found[1] else 1), 0)
    return left.total() > 0


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark")


def _task(row: StepRow) -> str:
    known = status_of(row.status)
    below = below_words(row.below) if row.below else ""
    words = ["" if row.priority == MEDIUM else open_word(row.priority), "" if known else open_word(row.status), below]
    details = ", ".join(filter(None, map(_words, words)))
    box = (known or STATUSES[DEFAULT_STATUS]).box
    return f"- [{box}] {_words(row.text) or _NO_TEXT}" + (f" {MARK} {details}" if details else "")


def _review(review: ReviewCard) -> str:
    since = ", and the plan has changed since" if review.stale else ""
    return _item(review.by, f"{review.words}{since}")


def _remark(remark: RemarkCard) -> str:
    words = ", ".join(remark.steps) or "no step" if remark.kind == SELECTION else remark.text
    facts = ["kept in force" if remark.kept else "", "" if remark.is_open else remark.delivery.lower()]
    kind = ", ".join(filter(None, (remark.label.lower(), *facts)))
    about = [f"on: {remark.about}"] if remark.about else []
    stale = [_item(remark.stale, depth=1)] if remark.stale else []
    answers = (_item(each.by, each.text, depth=1) for each in remark.answers)
    return "\n".join([_item(remark.by, kind, words, *about), *stale, *answers])


def _item(*words: str, depth: int = 0) -> str:
    return f"{'  ' * depth}- {_own(*map(_words, words))}".rstrip()


def _section(heading: str, items: Iterable[str]) -> Iterator[str]:
    listed = "\n".join(items)
    if listed:
        yield f"{heading}\n\n{listed}"
