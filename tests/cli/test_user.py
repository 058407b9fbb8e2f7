"""`planwire user`, and `planwire board --team` as a person starts it."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import httpx
import pytest

from planwire.cli.completion import completion_script
from planwire.cli.exit_codes import DONE, NOT_FOUND, USAGE
from planwire.journal import Stamped, open_journal
from planwire.model.events import ACP, PlanSet
from planwire.model.plan import Entry, ItemsPlan
from planwire.own_process import own_command
from planwire.session.agent_environment import VARIABLE
from planwire.session.steering import steer
from planwire.session.users_file import USERS_VARIABLE, UsersFile
from planwire.steering.wanted import Wanted
from tests import deciding
from tests.cli.answers import Answer, answer
from tests.waiting import until


@pytest.fixture(autouse=True)
def users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> UsersFile:
    monkeypatch.setenv(USERS_VARIABLE, str(tmp_path / "users.json"))
    return UsersFile()


def user(*arguments: str) -> Answer:
    return answer("user", *arguments, at_terminal=True)


def test_a_user_is_added_with_a_code_and_listed_with_what_they_are_known_by(users: UsersFile) -> None:
    added = user("add", "Ann", "--role", "approve")
    assert added.code == DONE
    code = re.findall(r"The code is (\S+)\n", added.out)[0]
    assert "Added Ann, who can approve" in added.out
    assert "a code is open for 10 more minutes" in user("list").out
    assert users.pair(code, "Firefox on Linux") is not None
    token = re.findall(r"The token is (\S+)\n", user("token", "Ann").out)[0]
    assert users.owner(token) is not None
    listed = user("list").out
    assert re.search(r"^Ann  approve  added .*\n    \w{6}  Firefox on Linux, last used .*\n    \w{6}  token, ", listed)
    assert token not in listed


def test_a_sign_out_says_that_an_open_code_no_longer_works(users: UsersFile) -> None:
    code = re.findall(r"The code is (\S+)\n", user("add", "Ann").out)[0]
    assert user("sign-out", "Ann").out == "Ann is signed in nowhere. The open code no longer works.\n"
    assert users.pair(code, "Firefox on Linux") is None
    assert user("sign-out", "Ann").out == "Ann has no browser and no token.\n"


def test_without_users_the_command_that_adds_one_names_the_same_file(tmp_path: Path) -> None:
    assert user("list").err.endswith(": planwire user add NAME adds one\n")
    other = tmp_path / "the others.json"
    assert user("list", "--users", str(other)).err.endswith(f": planwire user add NAME --users '{other}' adds one\n")


def test_a_token_that_no_program_has_sent_yet_is_listed_as_unused(users: UsersFile) -> None:
    user("add", "Ann")
    user("token", "Ann")
    assert re.search(r"token, made .*, not used yet$", user("list").out, re.MULTILINE)
    [key] = users.read().named("Ann").keys
    users.change(lambda known: known.used({key.id: key.made + 1}))
    assert re.search(r"token, last used ", user("list").out)


def test_programs_get_json(users: UsersFile) -> None:
    added = json.loads(user("add", "Ann", "--json").out)
    assert (added["user"], added["role"], added["minutes"]) == ("Ann", "steer", 10)
    assert json.loads(user("list", "--json").out)["users"][0]["code_until"] > 0
    users.pair(added["code"], "Firefox on Linux")
    assert json.loads(user("role", "Ann", "look", "--json").out) == {"user": "Ann", "role": "look"}
    [listed] = json.loads(user("list", "--json").out)["users"]
    assert (listed["name"], listed["role"], listed["by"]) == ("Ann", "look", "user")
    [browser] = listed["browsers"]
    assert browser["about"] == "Firefox on Linux"
    assert "digest" not in browser
    assert listed["code_until"] is None
    assert json.loads(user("sign-out", "Ann", "--json").out) == {"user": "Ann", "ended": 1}
    assert json.loads(user("remove", "Ann", "--json").out) == {"user": "Ann", "removed": True}


def test_one_browser_can_be_signed_out_alone(users: UsersFile) -> None:
    user("add", "Ann")
    kept, gone = users.token("Ann"), users.token("Ann")
    key = users.read().named("Ann").tokens[1].id
    assert user("sign-out", "Ann", "--only", key).code == DONE
    assert (users.owner(kept) is None, users.owner(gone) is None) == (False, True)
    assert user("sign-out", "Ann", "--only", "x").code == NOT_FOUND


@pytest.mark.parametrize("do", ["add", "remove", "role", "code", "token", "sign-out"])
def test_who_has_no_terminal_or_runs_below_an_agent_needs_a_name_and_a_yes(
    users: UsersFile, do: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent with a shell does not add itself, or let itself in, without its name on it."""
    if do != "add":
        users.add("Ann", "look", "user")
        users.token("Ann")
    before = users.read()
    arguments = [do, "Ann", *(["steer"] if do == "role" else [])]
    assert answer("user", *arguments).code == USAGE
    monkeypatch.setenv(VARIABLE, "1")
    refused = user(*arguments)
    assert refused.code == USAGE
    assert "pass --as NAME and --yes" in refused.err
    assert users.read() == before
    assert user(*arguments, "--as", "bot", "--yes").code == DONE
    if do == "add":
        assert users.read().named("Ann").by == "bot (below an agent)"
        assert " by bot" in user("list").out


def test_somebody_unknown_is_not_found_and_a_reserved_name_is_refused() -> None:
    for do in (["remove", "Zoe"], ["code", "Zoe"], ["token", "Zoe"], ["role", "Zoe", "look"], ["sign-out", "Zoe"]):
        assert user(*do).code == NOT_FOUND
    assert user("add", "agent").code == USAGE
    assert user("add", "Ann", "--role", "admin").code == USAGE
    assert user("list").code == USAGE


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_what_to_do_and_roles(shell: str) -> None:
    script = completion_script(shell)
    assert "sign-out" in script
    assert "approve" in script


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--insecure"], "--insecure needs --team"),
        (["--tls-cert", "x"], "--tls-cert needs --team"),
        (["--team", "--tls-cert", "x"], "belong together"),
        (["--team", "--tls-cert", "x", "--tls-key", "y"], "x can't be read"),
        (["--team", "--host", "0.0.0.0"], "without encryption: anyone on the network"),
        (["--team", "--proxy-from", "127.0.0.1"], "--proxy-from needs --behind-proxy"),
        (["--team", "--behind-proxy", "X-User"], "needs either --proxy-from"),
        (["--team", "--behind-proxy", "X-User", "--proxy-from", "nginx"], "takes one address"),
        (["--team", "--behind-proxy", "X User", "--proxy-from", "127.0.0.1"], "takes the name of a header"),
        (["--team", "--uds", "s.sock", "--host", "0.0.0.0"], "instead of an address: leave out --host, or --uds"),
        (["--team", "--insecure", "--host", "203.0.113.7"], "pass an address of this machine to --host"),
        (["--team", "--insecure", "--host", "[::1]"], "pass an address of this machine to --host"),
        (["--team", "--insecure", "--host", ""], "expected an address of this machine"),
        (["--team", "--insecure", "--host", "bücher..example"], "expected an address of this machine"),
        (["--team", "--allow-host", "https://board.example.org"], "expected a host name without https:// and port"),
        (["--team", "--allow-host", "board.example.org:8443"], "expected a host name without https:// and port"),
        (["--team", "--allow-host", "board.example.org."], "expected a host name without https:// and port"),
    ],
)
def test_options_that_do_not_fit_are_said_in_words(options: list[str], words: str) -> None:
    refused = answer("board", "--create", "--port", "0", *options)
    assert refused.code == USAGE
    assert words in refused.err


def test_a_board_for_a_team_says_where_it_is_and_that_nothing_is_encrypted(users: UsersFile) -> None:
    command = own_command("board", "--port", "0", "--create", "--team", "--host", "0.0.0.0")
    with subprocess.Popen(
        [*command, "--insecure"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ}
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        port = httpx.URL(address).port
        until(lambda: _answers(f"http://127.0.0.1:{port}/sign-in"))
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    assert "0.0.0.0" not in address + said
    assert "token" not in address
    assert "other machines can reach this board" in said
    assert "--insecure: nothing is encrypted" in said
    assert "there are no users yet, so nobody can sign in: planwire user add NAME" in said


def test_on_a_teams_board_nobody_is_you(users: UsersFile, tmp_path: Path) -> None:
    """Whoever steered without a name, on the machine of the journal, is not each of its readers."""
    with open_journal(tmp_path / "default.db") as journal:
        entries = (Entry("Read", "medium", "pending"),)
        deciding.write(journal, "s1", Stamped(1, "agent", PlanSet(ItemsPlan("main", entries), None, via=ACP)))
        steer(journal, "s1", "main", Wanted("comment", text="use SQLite"))
    users.add("Ann", "look", "user")
    headers = {"Authorization": f"Bearer {users.token('Ann')}"}
    command = own_command("board", "--port", "0", "--team")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        until(lambda: _answers(f"{address}sign-in"))
        pages = [httpx.get(f"{address}sessions/s1{page}", headers=headers).text for page in ("", "/history")]
        process.kill()
        process.communicate()
    for page in pages:
        assert "somebody" in page
        assert not re.search(r">you<|— you ", page)


def _answers(address: str) -> bool:
    try:
        return httpx.get(address).status_code == 200
    except httpx.HTTPError:
        return False
