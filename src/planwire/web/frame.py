"""The frame around every page: the head of its document, its static files, the bar at the top, and pages of words.

Browsers may cache a static file for good: its address changes with its content. A script imports others as
`"./other.js"`; the board puts their addresses in place of these names, so that the address of a script changes with
those of its imports.
"""

import re
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from planwire.web.act_table import act_table
from planwire.web.addresses import OVERVIEW
from planwire.web.html import Attribute, Html, el, joined, void
from planwire.web.team import SignedIn

STATIC: Final = Path(__file__).with_name("static")
#: The script that is made from the table of acts.
TABLE: Final = "table.js"

_KINDS: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
#: The media types of the static files, by their names.
ASSETS: Final = {
    TABLE: _KINDS[".js"],
    **{path.name: _KINDS[path.suffix] for path in STATIC.iterdir() if path.suffix in _KINDS},
}
_IMPORTED: Final = re.compile(r'"\./([a-z]+\.js)"')


def document(
    title: str,
    *body: Html,
    live: str | None = None,
    version: str | None = None,
    script: bool = True,
    only_shows: bool = False,
    person: SignedIn | None = None,
) -> str:
    """A whole page. `live` is the address of its stream, `version` the id of the version that it shows first. With
    `only_shows` nobody may steer, and no control for it is in sight; nor is any that the role of the signed-in `person`
    does not allow."""
    head = joined(
        void("meta", charset="utf-8"),
        void("meta", name="viewport", content="width=device-width, initial-scale=1"),
        void("meta", name="color-scheme", content="light dark"),
        el("title", f"{title} · planwire" if title else "planwire"),
        void("link", rel="icon", href=_address("icon.svg"), type="image/svg+xml"),
        void("link", rel="stylesheet", href=_address("board.css")),
        void("link", rel="stylesheet", href=_address("steer.css")) if script else None,
        el("script", src=_address("board.js"), type="module") if script else None,
    )
    bar = el(
        "header",
        el("a", "Skip to content", href="#content", class_="skip"),
        el("a", el("span", class_="logo", aria_hidden="true"), "planwire", href=OVERVIEW, class_="home"),
        el("span", "An agent started this board: it only shows", class_="fact") if only_shows else None,
        _who(person) if person else None,
        el("span", "", id="connection", role="status", class_="connection") if live else None,
        class_="bar",
    )
    announcer = el("p", id="announcer", class_="unseen", aria_live="polite") if live else None
    page = el(
        "body",
        bar,
        *body,
        announcer,
        data_live=live,
        data_version=version,
        data_only_shows=only_shows or bool(person and not person.may_steer),
        data_person=person.name if person else None,
        data_role=person.role if person else None,
        data_may_not=person.barred or None if person else None,
    )
    return f"<!doctype html>{el('html', el('head', head), page, lang='en')}"


def _who(person: SignedIn) -> Html:
    """The person who is signed in, and the button to sign out."""
    leave = el("form", el("button", "Sign out", class_="quiet"), method="post", action="/sign-out")
    name = el("bdi", person.name, class_="name"), el("span", person.words, class_="role")
    return el("span", *name, leave if person.is_browser else None, class_="signed-in")


def action(label: str, address: str, **values: Attribute) -> Html:
    """A link that looks like a button."""
    return el("a", label, href=address, class_="action", **values)


def top_line(title: Html, *actions: Html) -> Html:
    """The title of a page about a session, with links to its other pages."""
    return el("div", title, el("nav", *actions, class_="actions", aria_label="session"), class_="top-line")


def words_page(title: str, words: str, *, way_back: bool = True) -> str:
    """A page of words: what is missing or forbidden, and what to do."""
    inside = el("h1", title), el("p", words), el("p", action("All sessions", OVERVIEW)) if way_back else None
    return document(title, el("main", *inside, id="content", class_="words-page"), script=False)


@lru_cache(maxsize=64)
def asset(name: str) -> bytes:
    """The content of a static file, with addresses in place of imports."""
    content = act_table() if name == TABLE else (STATIC / name).read_text(encoding="utf-8")
    return _IMPORTED.sub(lambda found: f'"{_address(found[1])}"', content).encode()


@lru_cache(maxsize=64)
def _address(name: str) -> str:
    """The address of a static file with its current content."""
    return f"/static/{name}?{sha256(asset(name)).hexdigest()[:12]}"
