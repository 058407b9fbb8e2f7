"""Markdown from agents as safe HTML.

HTML in the text stays text. Links lead to the web or to mail, and say where unless their words do; an image becomes a
link, since a picture that loads tells its server who is reading. Tasks get the mark and the id of their step.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from markdown_it.token import Token

from planwire.readmodel.card import PlanCard, StepRow
from planwire.readmodel.plain_text import one_line, printable
from planwire.readmodel.text_pieces import neighbour_of, steps_by_line, without_box
from planwire.readmodel.unseen import LONGEST_RENDERED, drawn, left_out, line_keys, lines_of, rendered
from planwire.web.annotations_view import annotation_classes, annotations_html, ghost_row
from planwire.web.html import Html, attributes, el, joined_keys
from planwire.web.status_look import checkbox
from planwire.web.steps_view import tag_view

#: The highest number of a list that has room beside it.
HIGHEST: Final = 9_000
_SAFE: Final = re.compile(r"(?:https?|mailto):", re.IGNORECASE)


def prose(card: PlanCard, part_id: str, *, usable: bool = False, steerable: bool = False) -> Html:
    """The text of a plan as HTML, with the marks of its steps, which people can use if `usable`, and the suggestions on
    them, which people can withdraw if `steerable`.

    A heading at the very beginning is left out if it is the plan's title, which the page already shows.
    """
    keys = line_keys(lines_of(card))
    if len(card.text) > LONGEST_RENDERED:
        return el("pre", card.text, class_="prose long", data_lines=joined_keys(left_out(card, ())))
    tokens, parts, dropped = drawn(card)
    for token in tokens:
        if token.children:
            token.children = list(_safe(token.children))
    steps = _drawn_steps(tokens, card)
    lines = {id(token): joined_keys(keys[at] for at in numbers) for token, numbers in parts}
    for row, item, words in steps:
        _adorn(item, words, row, part_id, lines.pop(id(words), ""), usable=usable, steerable=steerable)
    _add_ghosts(tokens, {row.id: item for row, item, _ in steps}, card, part_id, steerable=steerable)
    for token in tokens:
        if token.type == "inline" and id(token) in lines:
            marked = _html(f"<span{attributes({'data-lines': lines[id(token)]})}>")
            token.children = [marked, *(token.children or ()), _html("</span>")]
        elif token.type in ("fence", "code_block"):
            _put_code(token, lines[id(token)])
        elif id(token) in lines:
            token.attrs["data-lines"] = lines[id(token)]
        if token.type == "ordered_list_open" and int(token.attrs.get("start", 1)) > HIGHEST:
            token.attrs["class"] = "high"
    safe = printable(rendered(tokens))  # markdown spells characters as `&#8238;` too
    written = "\n".join(lines_of(card)[at] for at in dropped)
    rest = el("pre", written, data_lines=joined_keys(keys[at] for at in dropped)) if dropped else ""
    return Html(f'<div class="prose" dir="auto">{safe}{rest}</div>')


def _put_code(token: Token, lines: str) -> None:
    """Draw code line by line, so that one that goes on in the next row says so."""
    code = "\n".join(el("span", line, class_="line") for line in token.content.removesuffix("\n").split("\n"))
    html = el("pre", el("code", Html(code)), data_lines=lines, data_info=token.info or None)
    token.type, token.content = "html_block", f"{html}\n"


def _drawn_steps(tokens: Sequence[Token], card: PlanCard) -> list[tuple[StepRow, Token, Token]]:
    """The steps that the text draws as items of lists, each with its item and its words."""
    by_line = steps_by_line(card.text, card)
    return [
        (by_line[token.map[0]][1], tokens[at - 2], token)
        for at, token in enumerate(tokens)
        if token.type == "inline" and token.map and token.map[0] in by_line and tokens[at - 2].type == "list_item_open"
    ]


def _adorn(item: Token, words: Token, row: StepRow, part_id: str, lines: str, *, usable: bool, steerable: bool) -> None:
    children = words.children or []
    if children and children[0].type == "text":
        children[0].content = without_box(children[0].content)
    row_id = f"{part_id}-{row.id}"
    item.attrs = {
        "class": f"task is-{row.look}{annotation_classes(row)}",
        "data-status": row.look,
        "id": row_id,
        "data-step": row.id,
    }
    if one_line("".join(child.content or " " for child in children)) != row.text:
        item.attrs["data-text"] = row.text  # the page does not show what the author wrote
    name_id = f"{row_id}-w"
    words.children = [
        _html(checkbox(row, name_id, usable=usable)),
        _html(f"<span{attributes({'class': 'words', 'id': name_id, 'data-lines': lines or None})}>"),
        *children,
        _html("</span>"),
        *(_html(f" {tag_view(tag)}") for tag in row.tags),
        _html(annotations_html(row, steerable=steerable)),
    ]


def _add_ghosts(
    tokens: list[Token], items: Mapping[str, Token], card: PlanCard, part_id: str, *, steerable: bool
) -> None:
    """Put the rows of suggested and moved steps in their places."""
    rows: dict[int, str] = {}
    for ghost in (*card.moved, *card.ghosts):
        if ghost.before is not None and ghost.before in items:
            at = _place_of(tokens, items[ghost.before])
        else:
            at = _place_behind(tokens, items, card, neighbour_of(ghost, card))
        rows[at] = rows.get(at, "") + ghost_row(part_id, ghost, "task", card.row(ghost.step), steerable=steerable)[1]
    for at in sorted(rows, reverse=True):
        tokens.insert(at, _html(rows[at] if items else f"<ul>{rows[at]}</ul>"))


def _place_of(tokens: list[Token], item: Token) -> int:
    return next(at for at, token in enumerate(tokens) if token is item)


def _place_behind(tokens: list[Token], items: Mapping[str, Token], card: PlanCard, neighbour: StepRow | None) -> int:
    """The place for the row of a new step: after another one and everything nested in it."""
    item = items.get((neighbour or card.rows[0]).id) if card.rows else None
    if item is None:
        return len(tokens)
    start = _place_of(tokens, item)
    if neighbour is None:
        return start
    level = tokens[start].level
    return next(at for at in range(start, len(tokens)) if tokens[at].nesting < 0 and tokens[at].level == level) + 1


def _html(content: str) -> Token:
    return Token("html_inline", "", 0, content=content)


def _safe(tokens: Sequence[Token]) -> Iterator[Token]:
    """The tokens of some words, in which links lead only to the web or to mail, and say where."""
    opened: list[tuple[Token, int]] = []
    for at, token in enumerate(tokens):
        match token.type:
            case "link_open":
                opened.append((token, at))
            case "link_close":
                link, start = opened.pop()
                token.tag = _guard_link(link, "".join(each.content for each in tokens[start:at]))
            case "image":
                link = Token("link_open", "a", 1, attrs={**token.attrs, "href": token.attrs.get("src", "")})
                words = Token("text", "", 0, content=f"image: {token.content or link.attrs['href']}")
                yield from (link, words)
                yield Token("link_close", _guard_link(link, words.content.removeprefix("image: ")), -1)
                continue
        yield token


def _guard_link(link: Token, words: str) -> str:
    """Leave a link to the web as it is; turn any other one into a text. Beside its words stand where it leads, unless
    they are that, and its title."""
    target, title = str(link.attrs.get("href", "")), link.attrs.get("title")
    link.tag, link.attrs = "span", {"class": "nowhere"}
    if _SAFE.match(target):
        link.tag, link.attrs = "a", {"href": target, "rel": "noopener noreferrer nofollow", "target": "_blank"}
    beside = [] if target in (words, f"mailto:{words}") else [target]
    if beside := [*beside, f"“{title}”"] if title else beside:
        link.attrs["data-beside"] = " ".join(beside)
    return link.tag
