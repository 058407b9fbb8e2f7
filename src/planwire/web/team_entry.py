"""The entry of a team's board: every request is from a person, known by name.

A person's request has the cookie of a browser that was paired with a code, a token as `Authorization: Bearer`, or the
name that a proxy gives it. The users are read again whenever their file has changed: a removed user is out at once.

Over TLS the cookie is a `__Host-` one: for this host, never unencrypted. A board without TLS on this machine shares its
host with other servers, as a personal one does: there the cookie is kept to a secret path, one for each browser
(`cookie_path`).

Browsers don't send a strict cookie when a link on another site leads here. So a person who follows one seems unknown,
and gets a page that has the browser ask again, now from the board's own site.
"""

import sys
from functools import partial
from typing import Final
from urllib.parse import parse_qsl

from starlette.responses import HTMLResponse, RedirectResponse

from planwire.errors import InputError, NotAllowed, NotFound
from planwire.session.team_users import TeamUser
from planwire.steering.roles import LOOK
from planwire.web.addresses import OVERVIEW
from planwire.web.cookie_path import AnswerBelow, browser_key
from planwire.web.frame import words_page
from planwire.web.guard import (
    CHALLENGE,
    READING,
    App,
    Headers,
    Receive,
    Scope,
    Send,
    bearer_of,
    cookie_of,
    host_name,
    same_secret,
    welcome,
    words_answer,
)
from planwire.web.listening import LOOPBACK
from planwire.web.proxied import ProxyRefusal, proxied_name
from planwire.web.sign_in import (
    SIGN_IN,
    SIGN_OUT,
    UNCHANGED,
    SignIn,
    cookie_name,
    cookie_text,
    is_encrypted,
    page_to_open,
    sign_in_page,
)
from planwire.web.team import SignedIn, Team
from planwire.web.team_streams import TeamStreams

_UNREADABLE: Final = (
    "Nobody can use the board until the file of its users is repaired: planwire user list says what is wrong."
)
_PLAIN: Final = "Open the board's https:// address, or start it with --insecure if you know this network."


class TeamEntry:
    """The application for users, with the person in the scope. With `only_shows`, nobody may do more than look."""

    def __init__(self, app: App, team: Team, cookie: str, *, only_shows: bool = False) -> None:
        self._app = app
        self._team = team
        self._users = team.users
        self._cookie = cookie
        self._only_shows = only_shows
        self._said = ""
        self.streams = TeamStreams(team.users, self._may_still_see)
        self._sign_in = SignIn(team.users, cookie, self._say)

    def answer(self, scope: Scope, headers: Headers) -> App:
        try:
            return self._answer(scope, headers)
        except InputError as error:  # nobody gets in while the users can't be read
            self._say(f"planwire: nobody can use the board: {error}")
            return words_answer(503, "The users can't be read", _UNREADABLE)
        except ProxyRefusal as refusal:
            if refusal.report:
                self._say(refusal.report)
            return words_answer(403, "Refused", f"{refusal}.")

    def _say(self, trouble: str) -> None:
        """Tell the person who runs the board, once. Strangers are not told where its files are."""
        if trouble != self._said:
            self._said = trouble
            print(trouble, file=sys.stderr, flush=True)

    def _answer(self, scope: Scope, headers: Headers) -> App:
        if self._team.proxy is not None:
            name = proxied_name(self._team.proxy, scope)
            if name is not None:
                return self._proxied(scope, name)
        elif not self._team.insecure and not _may_be_plain(scope, headers):
            return words_answer(403, "This connection is not encrypted", _PLAIN)
        if token := bearer_of(headers):
            person = self._person(token, is_browser=False)
            return self._let_in(scope, person, "") if person else self._unknown(scope, headers)
        for below, path in ((False, scope["path"]), (True, _path_below(scope))):
            if person := self._by_cookie(scope, headers, below=below):
                return self._let_in(scope, person, _first(scope) if below else "", path)
        if scope["path"].startswith("/static/") and scope["method"] in READING:
            return self._app
        if scope["path"] == SIGN_IN and self._team.proxy is None:
            return self._sign_in.posted if scope["method"] == "POST" else HTMLResponse(sign_in_page())
        return self._unknown(scope, headers)

    def _by_cookie(self, scope: Scope, headers: Headers, *, below: bool) -> SignedIn | None:
        """The person whose browser sent the request. The cookie of a plain connection counts only below its own
        path."""
        secret = cookie_of(headers, cookie_name(self._cookie, is_encrypted=not below))
        if not secret or (below and not same_secret(_first(scope), browser_key(secret, self._cookie).path)):
            return None
        return self._person(secret, is_browser=True)

    def _person(self, secret: str, *, is_browser: bool) -> SignedIn | None:
        owned = self._users.owner(secret)
        if owned is None or bool(owned[1].about) != is_browser:
            return None
        user, key = owned
        self.streams.note_use(key.id)
        return SignedIn(user.name, LOOK if self._only_shows else user.role, key.id, is_browser)

    def _proxied(self, scope: Scope, name: str) -> App:
        user = self._users.read().find(name)
        if user is not None and user.name != name:  # another account may read like a user's
            raise ProxyRefusal(
                f"The proxy names {name!r}, who is not the user {user.name!r}: both must be spelled alike"
            )
        role = self._role_of(user)
        if role is None:
            who = "The proxy named a person who is not a user here. planwire user add NAME adds one."
            return words_answer(403, "You are not a user of this board", who)
        return self._let_in(scope, SignedIn(name, LOOK if self._only_shows else role), "")

    def _may_still_see(self, person: SignedIn) -> bool:
        """Whether a person may still see what they see."""
        role = self._role_now(person)
        return role is not None and (self._only_shows or role == person.role)

    def _may_now(self, person: SignedIn) -> str:
        """The role of a person who acts, as it is now. Raises `NotAllowed` if they are out."""
        try:
            role = self._role_now(person)
        except InputError:
            raise NotAllowed("The users of this board can't be read. Nothing was changed.") from None
        if role is None:
            raise NotAllowed("You are no longer signed in. Nothing was changed.")
        return role

    def _role_now(self, person: SignedIn) -> str | None:
        """The role of a person as it is now; None if they are out."""
        user = self._users.read().find(person.name)
        if user is not None and user.name != person.name:  # somebody was added whose name reads like theirs
            return None
        if not person.key:
            return self._role_of(user)
        return user.role if user and any(each.id == person.key for each in user.keys) else None

    def _role_of(self, user: TeamUser | None) -> str | None:
        """The role of a person whom the proxy names; None if there is none for them."""
        if user is not None:
            return user.role
        return self._team.proxy.others if self._team.proxy else None

    def _let_in(self, scope: Scope, person: SignedIn, prefix: str, path: str | None = None) -> App:
        welcome(scope)
        path = scope["path"] if path is None else path
        inner = {**scope, "path": path, "planwire.person": person, "planwire.role": partial(self._may_now, person)}
        is_live, of_page = path.startswith("/live/"), _of_page(scope)
        if of_page.get("person", person.name) != person.name and (is_live or scope["method"] not in READING):
            return words_answer(403, "Somebody else is signed in now", "Nothing was changed: reload the page.")
        if is_live and of_page.get("role", person.role) != person.role:
            return words_answer(409, "Your role has changed", "Reload the page.")
        if path == SIGN_OUT and scope["method"] == "POST" and person.is_browser:
            return self._signs_out(person, prefix)
        if path == SIGN_IN and person.is_browser:  # the page of another tab, or the one behind Back
            return RedirectResponse(prefix + OVERVIEW, 303)

        async def answer(_scope: Scope, receive: Receive, send: Send) -> None:
            to = AnswerBelow(prefix, send).send if prefix else send
            if is_live:
                await self.streams.run(self._app, person, inner, receive, to)
            else:
                await self._app(inner, receive, to)

        return answer

    def _signs_out(self, person: SignedIn, prefix: str) -> App:
        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            try:
                await self._sign_in.signed_out(person)
            except NotFound:  # somebody removed them meanwhile
                pass
            except InputError as error:
                self._say(f"planwire: nobody can sign in or out: {error}")
                await words_answer(503, "You are still signed in", UNCHANGED)(scope, receive, send)
                return
            self.streams.look()
            name = cookie_name(self._cookie, is_encrypted=not prefix)
            gone = cookie_text(name, "", prefix, lasts=0)
            done = RedirectResponse(SIGN_IN, 303, {"set-cookie": gone, "clear-site-data": '"storage"'})
            await done(scope, receive, send)

        return answer

    def _unknown(self, scope: Scope, headers: Headers) -> App:
        """The answer to anyone who is not a user: the page to sign in for people, words for programs."""
        if self._team.proxy is not None:
            what = f"The proxy names people in {self._team.proxy.header}, and named nobody. Programs may send a token."
            return words_answer(401, "You are not signed in", what, CHALLENGE)
        if "text/html" not in headers.get(b"accept", "") or scope["method"] != "GET":
            what = "Sign in on the board's page, or send a token of planwire user token NAME as a Bearer token."
            return words_answer(401, "You are not signed in", what, CHALLENGE)
        if headers.get(b"sec-fetch-site") == "cross-site":
            return HTMLResponse(words_page("One moment", "The board opens.", way_back=False), headers={"refresh": "0"})
        wanted = f"{scope['path']}?{scope['query_string'].decode('latin-1')}".removesuffix("?")
        return HTMLResponse(sign_in_page(next_page=page_to_open(wanted)), 401, CHALLENGE)


def _first(scope: Scope) -> str:
    return f"/{scope['path'][1:].partition('/')[0]}"


def _path_below(scope: Scope) -> str:
    return f"/{scope['path'][1:].partition('/')[2]}"


def _of_page(scope: Scope) -> dict[str, str]:
    """The person and the role that a page was made for, as its stream and its acts name them. The person may have
    another role by now, or somebody else may have signed in in the same browser: neither may act on that page."""
    query: bytes = scope["query_string"]
    return dict(parse_qsl(query.decode("latin-1")))


def _may_be_plain(scope: Scope, headers: Headers) -> bool:
    """Whether nobody on a network can listen: the connection is encrypted, or stays on this machine. The Origin of a
    page that came through a proxy says how; a page that came unencrypted can't act on an encrypted board."""
    if is_encrypted(scope, headers):
        return not headers.get(b"origin", "").startswith("http://")
    return b"origin" not in headers or host_name(headers[b"host"]) in LOOPBACK
