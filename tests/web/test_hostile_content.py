"""What agents write can't become part of a page: not as HTML, not as a link that runs, not as an address."""

from html.parser import HTMLParser
from urllib.parse import quote, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.model.events import PlanSet, SessionOpened
from planwire.model.identity import track
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan, OtherPlan
from planwire.readmodel.cards import cards_of
from planwire.readmodel.plain_text import printable
from planwire.readmodel.unseen import LONGEST_RENDERED
from planwire.web.addresses import decode_id, encode_id, plan_address, session_address
from planwire.web.html import Html, el, escaped
from planwire.web.prose import prose
from tests.web.board import Running, running_board


def shown(text: str) -> Html:
    """A text on a page."""
    [card] = cards_of(track(MarkdownPlan("text", text)))
    return prose(card, "p0")


PAYLOADS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "'><b>bold</b>",
    "</title></textarea></style><script>1</script>",
    "javascript:alert(1)",
    "&lt;script&gt;",
    "<!-- --><iframe src=//evil.example>",
    "\x00\x1b[31m\u202e\u2066<u>",
)
_ALLOWED = """
    html head meta title link script body header a span main h1 h2 h3 h4 h5 h6 p div ol ul li nav time progress bdi b i
    article details summary dl dt dd form label input fieldset legend small button section figure svg polygon polyline
    rect table thead tbody tr th td pre code em strong s blockquote hr br
"""
ALLOWED = set(_ALLOWED.split())
ALLOWED_LINKS = ("/", "#", "https://", "http://", "mailto:", "vscode://file/")


class Seen(HTMLParser):
    """The elements and attributes of a page, as a browser would find them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words += data


def check(page: str) -> Seen:
    seen = Seen(page)
    for tag, attributes in seen.tags:
        assert tag in ALLOWED, tag
        for name, value in attributes.items():
            assert not name.startswith("on"), name
            assert name not in ("style", "srcdoc", "formaction", "ping"), name
            if name in ("href", "src", "action"):
                assert (value or "").startswith(ALLOWED_LINKS), value
            if tag == "script":
                assert (value or "").startswith(("/static/board.js?", "module"))
    return seen


@pytest.mark.parametrize("payload", PAYLOADS)
def test_hostile_words_anywhere_are_words_on_every_page(payload: str) -> None:
    with running_board() as board:
        name = payload.replace("\x00", "").replace("\u202e", "x") + "/../.json?x#y"
        board.write(
            name,
            SessionOpened(payload, payload, payload, payload),
            PlanSet(
                ItemsPlan(payload, (Entry(payload, payload, payload), Entry(payload, "high", "in_progress"))), payload
            ),
            PlanSet(
                MarkdownPlan(
                    f"md{payload}", f"# {payload}\n\n{payload}\n\n- [ ] {payload}\n\n```{payload}\n{payload}\n```\n"
                )
            ),
            PlanSet(OtherPlan("other", payload, {payload: payload})),
            by=payload,
        )
        address = session_address(name)
        plan = plan_address(name, payload)
        for page in (
            "/sessions",
            address,
            f"{address}/history",
            f"{address}/compare?from=1&to=4",
            plan,
            f"/sessions?q={quote(payload)}",
        ):
            check(board.page(page))
        assert board.json(f"{address}.json")["id"] == name
        assert board.json(f"{plan}.json")["id"] == payload


@pytest.mark.parametrize(
    "link",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "java\tscript:alert(1)",
        "&#106;avascript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "vbscript:x",
        "file:///etc/passwd",
        "//evil.example",
        "../../../secret",
        "blob:x",
        "intent:x",
    ],
)
def test_a_link_in_a_text_leads_to_the_web_or_nowhere(link: str) -> None:
    for text in (f"[here]({link})", f"[here](<{link}>)", f"<{link}>", f"![here]({link})", f"[here]({link} 'title')"):
        seen = Seen(shown(text))
        assert [attributes for tag, attributes in seen.tags if tag == "a"] == []
        assert all(tag != "img" for tag, _ in seen.tags)


def test_a_link_to_the_web_says_where_it_leads_and_tells_nobody_where_it_came_from() -> None:
    [(_, attributes)] = [each for each in Seen(shown("[here](https://example.org/?a=1&b=2)")).tags if each[0] == "a"]
    assert attributes == {
        "href": "https://example.org/?a=1&b=2",
        "rel": "noopener noreferrer nofollow",
        "target": "_blank",
        "data-beside": "https://example.org/?a=1&b=2",
    }


@pytest.mark.parametrize(
    ("text", "beside"),
    [
        ("[docs](https://evil.example/a 'a title')", "https://evil.example/a “a title”"),
        ("[https://good.example](https://bad.example)", "https://bad.example"),
        ("<https://example.org/a>", None),
        ("<me@example.org>", None),
        ("[there](/relative)", "/relative"),
        ("![shot](https://evil.example/i.png 'a title')", "https://evil.example/i.png “a title”"),
        ("![](https://evil.example/i.png)", None),
        ("[a **bold** `word`](https://example.org)", "https://example.org"),
    ],
)
def test_what_a_link_does_not_say_in_its_words_stands_beside_them(text: str, beside: str | None) -> None:
    [attributes] = [each for tag, each in Seen(shown(text)).tags if tag == "a" or each.get("class") == "nowhere"]
    assert attributes.get("data-beside") == beside


def test_a_picture_in_a_text_is_not_loaded() -> None:
    page = shown("![track me](https://evil.example/x.png)")
    assert "<img" not in page
    assert "image: track me" in page


@given(st.text(alphabet="<>&\"'`*_[]()#-+!|~:/ \\\n\tabx=\u202e\x00", max_size=200))
def test_no_text_gets_html_of_its_own_onto_a_page(text: str) -> None:
    check(f"<main>{shown(text)}</main>")
    check(f"<main>{el('p', text, title=text)}</main>")


@given(st.text())
def test_escaping_shows_the_text_and_nothing_else(text: str) -> None:
    page = el("p", text, title=text)
    seen = Seen(page)
    assert [tag for tag, _ in seen.tags] == ["p"]
    assert escaped(text).encode().decode() == escaped(text)


def test_characters_that_turn_or_hide_text_are_shown_as_marks() -> None:
    assert escaped("safe\u202egpj.exe\x1b[31m") == "safe\ufffdgpj.exe\ufffd[31m"


@pytest.mark.parametrize("hidden", ["\u202e", "&#x202e;", "\u2028", "&#8232;", "\U000e0041", "&#xe0041;", "\x1b[2J"])
def test_no_spelling_of_such_a_character_gets_it_into_a_text(hidden: str) -> None:
    page = shown(f"safe{hidden}gpj\n\n- [ ] a *step*{hidden} to see\n\n```x{hidden}y\ncode\n```\n")
    assert printable(page) == page
    assert "\ufffd" in page


@given(st.none() | st.text().filter(lambda text: text.isprintable() or text.isascii()))
def test_every_id_has_an_address_of_its_own_that_says_nothing_else(plan_id: str | None) -> None:
    segment = encode_id(plan_id)
    assert decode_id(segment) == plan_id
    assert segment == unquote(segment)
    assert set(segment) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-~")


@pytest.mark.parametrize("segment", ["", "~%", "a.b", "~a", "~_w", "..", "a/b", "~~~"])
def test_a_segment_that_stands_for_no_id_is_refused(segment: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        decode_id(segment)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 20_000,
        "*a " * 20_000,
        "`" * 30_000,
        "> " * 5_000,
        "- " * 5_000,
        "![](" * 10_000,
        "<a" * 20_000,
        "|" * 20_000,
    ],
)
def test_a_text_that_is_made_to_be_slow_is_not(text: str) -> None:
    assert shown(text[:LONGEST_RENDERED])


def test_a_text_that_is_too_long_is_shown_as_it_is() -> None:
    assert shown("# x\n" * 30_000).startswith("<pre")


def test_a_name_of_a_download_is_a_plain_name(board: Running) -> None:
    board.write("s1", PlanSet(ItemsPlan('../..\\x"; filename=evil.html', (Entry("x", "low", "pending"),))))
    [attributes] = [attributes for tag, attributes in Seen(board.page("/sessions/s1")).tags if "download" in attributes]
    assert attributes["download"] == "x---filename-evil-html.md"
