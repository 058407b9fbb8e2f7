"""Markdown from agents as safe HTML.

HTML in the text stays text. Links lead to the web or to mail, and say where; an image becomes a link, since a picture
that loads tells its server who is reading. Tasks get the mark and the id of their step.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from planwire.model.changes import last_outermost
from planwire.model.markdown import BOX, TASK, parse
from planwire.model.steps import Step
from planwire.model.text import unwrapped
from planwire.readmodel.plain_text import printable
from planwire.web.annotations_view import NO_ANNOTATIONS, Extra, StepAnnotations, ghost_row
from planwire.web.html import Html, attributes, el
from planwire.web.status_look import checkbox, look, mark

__all__ = ["LONGEST_RENDERED", "prose"]

#: A longer text appears as its author wrote it: a bound on the cost of a hostile one.
LONGEST_RENDERED: Final = 100_000

_SAFE: Final = re.compile(r"(?:https?|mailto):", re.IGNORECASE)
_BOX: Final = re.compile(rf"{BOX}\s*")


@lru_cache(maxsize=128)
def prose(
    text: str,
    steps: tuple[Step, ...] = (),
    prefix: str = "",
    stopped: bool = False,
    annotations: StepAnnotations = NO_ANNOTATIONS,
    *,
    usable: bool = False,
) -> Html:
    """A text as HTML. Its tasks are `steps`, whose ids stand behind `prefix`, with `annotations` over them and marks
    that people can use, if they are `usable`.

    A heading at its very beginning goes: it is the name of the plan, which the page has already.
    """
    text = printable(text)
    if len(text) > LONGEST_RENDERED:
        return el("pre", text, class_="prose long")
    parser = _parser()
    tokens = parser.parse(text)
    if tokens and tokens[0].type == "heading_open" and unwrapped(tokens[1].content) == parse(text).title:
        del tokens[:3]
    for token in tokens:
        if token.children:
            token.children = list(_safe(token.children))
    tasks = [(tokens[at - 2], token) for at, token in enumerate(tokens) if _is_task(tokens, at)]
    if len(tasks) == len(steps):
        extras = dict(annotations.steps)
        for (item, words), step in zip(tasks, steps, strict=True):
            _adorn(item, words, step, prefix, stopped, extras.get(step.id), usable)
        _add_ghosts(tokens, [item for item, _ in tasks], steps, prefix.rstrip("-"), annotations)
    rendered = parser.renderer.render(tokens, parser.options, {})
    return Html(f'<div class="prose" dir="auto">{rendered}</div>')


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    options = {"html": False, "linkify": False, "typographer": False}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"]).disable("reference")


def _is_task(tokens: Sequence[Token], at: int) -> bool:
    return (
        tokens[at].type == "inline" and tokens[at - 2].type == "list_item_open" and bool(TASK.match(tokens[at].content))
    )


def _adorn(
    item: Token, words: Token, step: Step, prefix: str, stopped: bool, extra: Extra | None, usable: bool
) -> None:
    shown = look(step.status, stopped)
    item.attrs = {"class": f"task is-{shown.kind}{extra.classes if extra else ''}", "data-status": shown.kind}
    children = words.children or []
    if children and children[0].type == "text":
        children[0].content = _BOX.sub("", children[0].content, count=1)
    if prefix:
        item.attrs |= {"id": f"{prefix}{step.id}", "data-step": step.id}
        if unwrapped("".join(child.content or " " for child in children)) != step.content:
            item.attrs["data-text"] = step.content  # the page does not show what the author wrote
    words_id = f"{prefix}{step.id}-w" if prefix else None
    sign = checkbox(step.status, stopped, words_id, usable=usable) if words_id else mark(step.status)
    words.children = [
        _html(sign),
        _html(f"<span{attributes({'class': 'words', 'id': words_id})}>"),
        *children,
        _html("</span>"),
        *([_html(extra.html)] if extra else []),
    ]


def _add_ghosts(
    tokens: list[Token], items: list[Token], steps: Sequence[Step], part_id: str, annotations: StepAnnotations
) -> None:
    """Put the rows of suggested steps in their places."""
    rows: dict[int, str] = {}
    for after, key, html in annotations.added:
        at = _place_behind(tokens, items, steps, after)
        rows[at] = rows.get(at, "") + ghost_row(f"{part_id}-{key}", html, "task")
    for at in sorted(rows, reverse=True):
        tokens.insert(at, _html(rows[at] if items else f"<ul>{rows[at]}</ul>"))


def _place_behind(tokens: list[Token], items: list[Token], steps: Sequence[Step], after: str | None) -> int:
    """The place for the row of a new step: behind another one and everything nested in it."""
    if not items:
        return len(tokens)
    places = {id(token): at for at, token in enumerate(tokens)}
    neighbour = next((at for at, step in enumerate(steps) if step.id == after), last_outermost(steps))
    if after == "" or neighbour is None:
        return places[id(items[0])]
    start = places[id(items[neighbour])]
    level = tokens[start].level
    return next(at for at in range(start, len(tokens)) if tokens[at].nesting < 0 and tokens[at].level == level) + 1


def _html(content: str) -> Token:
    return Token("html_inline", "", 0, content=content)


def _safe(tokens: Sequence[Token]) -> Iterator[Token]:
    opened: list[str] = []
    for token in tokens:
        match token.type:
            case "link_open":
                opened.append(_guard_link(token))
            case "link_close":
                token.tag = opened.pop() if opened else "span"
            case "image":
                source = str(token.attrs.get("src", ""))
                link = Token("link_open", "a", 1, attrs={"href": source})
                tag = _guard_link(link)
                yield from (link, Token("text", "", 0, content=f"image: {token.content or source}"))
                yield Token("link_close", tag, -1)
                continue
        yield token


def _guard_link(token: Token) -> str:
    """Leave a link to the web as it is; turn any other one into a text that says where it leads."""
    target = str(token.attrs.get("href", ""))
    if _SAFE.match(target):
        token.attrs = {"href": target, "rel": "noopener noreferrer nofollow", "target": "_blank"}
        return "a"
    token.tag = "span"
    token.attrs = {"class": "nowhere", "title": target}
    return "span"
