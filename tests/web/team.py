"""A team's board on a real port, and its people."""

import re
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from planwire.journal import open_journal
from planwire.session.users_file import UsersFile
from planwire.web import BoardServer
from planwire.web.team import Team
from tests.waiting import until
from tests.web.board import Running, items

__all__ = ["PEOPLE", "TeamBoard", "team_board"]

#: The people of a test's team, with their roles.
PEOPLE = {"Ann": "approve", "Ben": "steer", "Cleo": "look"}
HTML = {"Accept": "text/html"}


class TeamBoard(Running):
    """A board with users, and clients that are theirs."""

    def __init__(self, server: BoardServer, journal: Any, users: UsersFile) -> None:
        super().__init__(server, journal)
        self.users = users
        self.client.headers.pop("Authorization")

    def program(self, name: str, **options: Any) -> httpx.Client:
        """A program of a user's, with a token."""
        own = {"Authorization": f"Bearer {self.users.token(name)}", "Origin": self.base}
        headers = {**own, **options.pop("headers", {})}
        return httpx.Client(base_url=self.base, headers=headers, timeout=20, **options)

    def browser(self, name: str, **options: Any) -> tuple[httpx.Client, str]:
        """A browser that a user paired, and the address under which it sees the board."""
        headers = {**HTML, "Origin": self.base}
        form = {"code": self.users.pairing_code(name)}
        answer = httpx.post(f"{self.base}/sign-in", data=form, headers=headers, timeout=20, **options)
        assert answer.status_code == 303, answer.text
        client = httpx.Client(base_url=self.base, headers=headers, cookies=answer.cookies, timeout=20, **options)
        return client, self.base + answer.headers["location"].removesuffix("/sessions")

    def by(self) -> list[str]:
        """The authors of all that happened in the first session."""
        return [each.by for each in self.journal.read("s1")]


@contextmanager
def team_board(folder: Path, url: str = "memory:", **options: Any) -> Iterator[TeamBoard]:
    """A board with three users. `team` may have further options of the team."""
    users = UsersFile(folder / "users.json")
    for name, role in PEOPLE.items():
        if users.read().find(name) is None:
            users.add(name, role, "tests")
    team = Team(users, **options.pop("team", {}))
    with open_journal(url) as journal:
        server = BoardServer(journal, team=team, **{"thoughts": False, **options})
        thread = threading.Thread(target=server.run, name="board", daemon=True)
        thread.start()
        until(lambda: server.is_up or not thread.is_alive())
        board = TeamBoard(server, journal, users)
        board.write("s1", items("pending", "pending"))
        try:
            yield board
        finally:
            board.client.close()
            server.stop()
            thread.join(20)
            assert not thread.is_alive(), "the board did not end"


def cookie_in(answer: httpx.Response) -> tuple[str, str]:
    """The name and the attributes of the cookie that an answer sets."""
    name, _, rest = answer.headers["set-cookie"].partition("=")
    return name, re.sub(r"^[^;]*; ", "", rest)


def trusting(certificate: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(certificate))
