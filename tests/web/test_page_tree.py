"""Pages as values: a difference, applied as the browser applies it, makes the later page from the earlier one."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from planwire.web.html import Html
from planwire.web.page_tree import Part, difference, part_html, whole


class Element:
    """The least of a browser: elements with an id, their own HTML, and children."""

    def __init__(self, part: Part) -> None:
        self.id = part.id
        self.own = (part.start, part.end)
        self.children = [Element(child) for child in part.children]

    def find(self, wanted: str) -> "Element | None":
        if self.id == wanted:
            return self
        return next((found for child in self.children if (found := child.find(wanted))), None)

    def html(self) -> str:
        return self.own[0] + "".join(child.html() for child in self.children) + self.own[1]


def parts_by_id(part: Part) -> dict[str, Part]:
    found = {part.id: part}
    for child in part.children:
        found |= parts_by_id(child)
    return found


def apply(root: Element, changes: list[list[Any]], after: Part) -> None:
    known = parts_by_id(after)
    for what, part_id, *rest in changes:
        target = root.find(part_id)
        assert target is not None
        if what == "set":
            assert rest == [part_html(known[part_id])]
            fresh = Element(known[part_id])
            target.own, target.children = fresh.own, fresh.children
        else:
            order, new = rest
            there = {child.id: child for child in target.children}
            assert set(new) == set(order) - set(there)
            target.children = [there.get(each) or Element(known[each]) for each in order]


@st.composite
def rows(draw: st.DrawFn, prefix: str) -> tuple[Part, ...]:
    ids = draw(st.lists(st.integers(0, 5), unique=True))
    return tuple(Part(f"{prefix}-{each}", Html(f"<li>{draw(st.sampled_from('abc'))}</li>")) for each in ids)


@st.composite
def pages(draw: st.DrawFn) -> Part:
    plans = [
        Part(name, Html(f"<article {draw(st.sampled_from('xy'))}>"), draw(rows(name)), Html("</article>"))
        for name in draw(st.lists(st.sampled_from(["p1", "p2", "p3"]), unique=True))
    ]
    return Part("content", Html("<main>"), tuple(plans), Html("</main>"))


PAGES = pages()


@given(PAGES, PAGES)
def test_a_difference_makes_the_later_page_from_the_earlier_one(before: Part, after: Part) -> None:
    root = Element(before)
    apply(root, difference(before, after), after)
    assert root.html() == part_html(after)


@given(PAGES)
def test_equal_pages_have_no_difference_whoever_made_them(page: Part) -> None:
    again = Part(page.id, page.start, tuple(child._replace() for child in page.children), page.end)
    assert difference(page, again) == []
    assert difference(page, page) == []


@given(PAGES, PAGES)
def test_the_whole_page_makes_it_from_any_other(before: Part, after: Part) -> None:
    root = Element(before)
    apply(root, whole(after), after)
    assert root.html() == part_html(after)
