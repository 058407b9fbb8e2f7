"""A page as a value: a tree of parts with ids. Watchers get the difference between two of them.

A part is HTML with children in the middle. Two pages made from the same values share their parts, so comparing
them costs no more than the change, and a watcher that missed any number of pages gets one difference: from its page to
the newest.

A difference is a list of steps for the script in the browser:

    ["set", id, html]                  the part is replaced: its whole HTML
    ["list", id, [ids], {id: html}]    its children are now these, in this order; the HTML of the new ones
"""

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

from planwire.web.html import Attribute, Html, attributes, el

Change: TypeAlias = list[Any]


class Part(NamedTuple):
    """An element with an id. `start` and `end` are its own HTML, around that of its children."""

    id: str
    start: Html
    children: "tuple[Part, ...]" = ()
    end: Html = Html("")


def leaf(part_id: str, tag: str, *children: str | None, **values: Attribute) -> Part:
    """An element without parts in it, which is always sent whole."""
    return Part(part_id, el(tag, *children, id=part_id, **values))


def branch(part_id: str, tag: str, children: Iterable[Part], **values: Attribute) -> Part:
    """An element with parts in it, which can change one by one."""
    return Part(part_id, Html(f"<{tag}{attributes({'id': part_id, **values})}>"), tuple(children), Html(f"</{tag}>"))


def part_html(part: Part) -> Html:
    """The HTML of a part and of all the parts in it."""
    if not part.children:
        return Html(part.start + part.end)
    return Html("".join((part.start, *[part_html(child) for child in part.children], part.end)))


def difference(before: Part, after: Part) -> list[Change]:
    """The changes that turn `before` into `after`; none if they look the same."""
    if before is after:
        return []
    if before.start != after.start or before.end != after.end:
        return whole(after)
    if before.children is after.children:
        return []
    changes: list[Change] = []
    known = {child.id: child for child in before.children}
    ids = [child.id for child in after.children]
    if list(known) != ids:
        changes.append(["list", after.id, ids, {c.id: str(part_html(c)) for c in after.children if c.id not in known}])
    for child in after.children:
        if child.id in known:
            changes += difference(known[child.id], child)
    return changes


def whole(page: Part) -> list[Change]:
    """The change that turns any other page into this one."""
    return [["set", page.id, str(part_html(page))]]
