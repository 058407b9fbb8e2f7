"""The file of a team's users: private, whole, and without a secret in it."""

import os
import random
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from planwire.errors import InputError, NotFound
from planwire.journal.spool_append import locked
from planwire.session import users_file
from planwire.session.team_secrets import new_code
from planwire.session.team_users import CODE_LIFE, KEY_LIFE, MOST_KEYS
from planwire.session.users_file import USERS_VARIABLE, UsersFile, default_users_path
from tests.journal.simulated_disk import SimulatedDisk


@pytest.fixture
def users(tmp_path: Path) -> UsersFile:
    made = UsersFile(tmp_path / "team" / "users.json")
    made.add("Ann", "steer", "user")
    return made


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_800_000_000_000
        monkeypatch.setattr(users_file, "_now", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_the_file_and_its_folder_are_for_their_owner_only(users: UsersFile) -> None:
    previous = os.umask(0)
    try:
        users.token("Ann")
    finally:
        os.umask(previous)
    assert users.path.stat().st_mode & 0o777 == 0o600
    assert users.path.parent.stat().st_mode & 0o777 == 0o700


def test_a_file_that_others_may_read_is_not_used(users: UsersFile) -> None:
    users.path.chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        UsersFile(users.path).read()


def test_no_secret_is_in_the_file(users: UsersFile) -> None:
    token, code = users.token("Ann"), users.pairing_code("Ann")
    paired = users.pair(code, "Firefox on Linux")
    assert paired is not None
    written = users.path.read_text()
    again = users.pairing_code("Ann")
    for secret in (token, code, code.replace("-", ""), paired[1], again):
        assert secret not in written
        assert secret not in users.path.read_text()
    assert len(token) >= 43


def test_a_token_and_a_browser_are_known_and_nothing_else_is(users: UsersFile) -> None:
    token = users.token("Ann")
    paired = users.pair(users.pairing_code("Ann"), "Firefox on Linux")
    assert paired is not None
    for secret, about in ((token, ""), (paired[1], "Firefox on Linux")):
        owned = users.owner(secret)
        assert owned is not None
        assert (owned[0].name, owned[1].about) == ("Ann", about)
    digests = [each.digest for each in users.read().named("Ann").keys]
    for wrong in ("", token[:-1], token + "x", "ä\udcff", *digests):
        assert users.owner(wrong) is None


def test_a_code_works_once_within_ten_minutes_and_only_the_newest(users: UsersFile, clock: Clock) -> None:
    old, code = users.pairing_code("Ann"), users.pairing_code("Ann")
    assert users.pair(old, "x") is None
    clock.now += CODE_LIFE
    assert users.pair(code, "x") is None
    code = users.pairing_code("Ann")
    clock.now += CODE_LIFE - 1
    assert users.pair(f" {code.lower()} ", "x") is not None
    assert users.pair(code, "x") is None


def test_two_browsers_that_have_one_code_at_once_get_one_pairing(users: UsersFile) -> None:
    code, got = users.pairing_code("Ann"), []
    other = UsersFile(users.path)
    threads = [threading.Thread(target=lambda each=each: got.append(each.pair(code, "x"))) for each in (users, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert [each is None for each in got].count(False) == 1


def test_a_browser_that_nobody_used_for_a_month_is_out_and_a_token_is_not(users: UsersFile, clock: Clock) -> None:
    token, paired = users.token("Ann"), users.pair(users.pairing_code("Ann"), "x")
    assert paired is not None
    clock.now += KEY_LIFE - 1
    assert users.owner(paired[1]) is not None
    key = users.read().named("Ann").browsers[0]
    users.change(lambda known: known.used({key.id: clock.now}))
    clock.now += KEY_LIFE - 1
    assert users.owner(paired[1]) is not None
    clock.now += 1
    assert users.owner(paired[1]) is None
    assert users.owner(token) is not None


def test_a_change_of_another_process_is_seen_at_once(users: UsersFile) -> None:
    other = UsersFile(users.path)
    token = users.token("Ann")
    assert other.owner(token) is not None
    users.change(lambda known: known.removed("Ann"))
    assert other.owner(token) is None


def test_no_change_is_lost_between_many_writers(users: UsersFile) -> None:
    def add(number: int) -> None:
        UsersFile(users.path).add(f"user {number}", "look", "tests")

    threads = [threading.Thread(target=add, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(users.read().users) == 13
    assert [path.name for path in users.path.parent.iterdir() if path.name.startswith(".users.json.")] == [
        ".users.json.lock"
    ]


def test_the_least_used_key_makes_room_for_another(users: UsersFile, clock: Clock) -> None:
    first = users.token("Ann")
    for _ in range(MOST_KEYS):
        clock.now += 1
        last = users.token("Ann")
    assert users.owner(first) is None
    assert users.owner(last) is not None
    assert len(users.read().named("Ann").keys) == MOST_KEYS


@pytest.mark.parametrize(
    "name",
    [
        *("user", "Agent", "the planwire", "relay", "ｕｓｅｒ", "us\u0435r", "", " Ann", "A\nn", "x" * 65),
        *("us\u034fer", "you\ufe0f", "\u3164", "\u2800", "Ann\u00a0B", "Ann  B"),
        *("Ann, just now · Seen", "☑ approved", "“Plan”", "│ Ann", "Ann ◈ approved", "Ann:", "Ann\u0489"),
    ],
)
def test_nobody_can_be_called_what_reads_as_another_author_or_as_none(users: UsersFile, name: str) -> None:
    with pytest.raises(InputError):
        users.add(name, "look", "user")


@pytest.mark.parametrize("name", ["Ann", "ann", "ＡＮＮ", "\u0410nn", "\u0391\u039d\u039d"])
def test_two_users_never_read_alike(users: UsersFile, name: str) -> None:
    with pytest.raises(InputError, match=r"already|words of one script"):
        users.add(name, "look", "user")


def test_a_role_that_there_is_not_is_refused_and_so_is_somebody_unknown(users: UsersFile) -> None:
    with pytest.raises(InputError, match="look, steer, approve"):
        users.add("Ben", "admin", "user")
    with pytest.raises(NotFound, match="users are: Ann"):
        users.token("Ben")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"salt": 1}', '{"salt": "x", "version": 2}'])
def test_a_file_that_is_none_of_ours_stays_as_it_is(users: UsersFile, text: str) -> None:
    users.path.write_text(text)
    with pytest.raises(InputError, match=r"users\.json"):
        users.add("Ben", "look", "user")
    assert users.path.read_text() == text


@pytest.mark.parametrize("user", ['"name": "Ann", "role": "admin"', '"name": "agent", "role": "look"'])
def test_a_user_that_planwire_would_not_have_written_is_not_used(users: UsersFile, user: str) -> None:
    users.path.write_text(f'{{"salt": "x", "users": [{{{user}, "added": 1}}]}}')
    with pytest.raises(InputError, match=r"users\.json can't be used: .*(no role 'admin'|'agent' is reserved).*Repair"):
        users.read()


def test_a_file_that_somebody_gave_two_users_of_one_name_is_not_used_since_a_change_would_reach_only_one(
    users: UsersFile,
) -> None:
    twice = ", ".join(f'{{"name": "{name}", "role": "look", "added": 1}}' for name in ("Ann", "ANN"))
    users.path.write_text(f'{{"salt": "x", "users": [{twice}]}}')
    with pytest.raises(InputError, match=r"users\.json can't be used: .*two users whose names read like 'ANN'.*Repair"):
        users.read()


def test_a_file_without_an_end_to_its_depth_is_refused_in_words(users: UsersFile) -> None:
    users.path.write_text('{"salt": "x", "more": ' + "[" * 100_000 + "]" * 100_000 + "}")
    with pytest.raises(InputError, match=r"users\.json can't be read"):
        users.read()


def test_a_user_who_was_removed_stays_removed_after_a_power_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        disk = SimulatedDisk(tmp_path / "team", patch)
        users = UsersFile(tmp_path / "team" / "users.json")
        users.add("Ann", "steer", "user")
        users.add("Ben", "look", "user")
        users.change(lambda now: now.removed("Ann"))
        cuts = [disk.after_a_cut(random.Random(seed)) for seed in range(40)]
    assert {cut["users.json"] for cut in cuts} == {users.path.read_bytes()}


def test_what_a_killed_writer_left_behind_goes_with_the_next_change(
    users: UsersFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def kill(_: int) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", kill)
        with pytest.raises(Killed):
            users.add("Cem", "look", "user")
    [left] = users.path.parent.glob(".*-draft")
    os.utime(left, (0, 0))  # a minute passes
    users.add("Ben", "look", "user")
    assert sorted(each.name for each in users.path.parent.iterdir()) == [".users.json.lock", "users.json"]


def test_a_link_to_the_file_is_not_replaced_since_boards_may_read_what_it_leads_to(
    users: UsersFile, tmp_path: Path
) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(users.path)
    UsersFile(link).change(lambda known: known.removed("Ann"))
    assert link.is_symlink()
    assert users.read().users == ()
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_a_link_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "elsewhere" / "users.json")
    with pytest.raises(InputError, match="a link to a file that does not exist"):
        UsersFile(link).add("Ben", "look", "user")
    assert [each.name for each in tmp_path.iterdir()] == ["link.json"]


def test_a_folder_in_place_of_the_file_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "users.json").mkdir(0o700)
    users = UsersFile(tmp_path / "users.json")
    for use in (users.read, lambda: users.add("Ben", "look", "user")):
        with pytest.raises(InputError, match="can't be read"):
            use()


def test_codes_are_two_groups_of_letters_that_look_like_nothing_else() -> None:
    codes = {new_code() for _ in range(200)}
    assert len(codes) == 200
    assert all(len(code) == 9 and code[4] == "-" and not set(code) & set("AEIOUY01") for code in codes)


def test_the_file_is_that_of_the_environment_or_lies_with_the_users_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv(USERS_VARIABLE, raising=False)
    assert default_users_path().name == "users.json"
    assert default_users_path().parent.name == "planwire"
    monkeypatch.setenv(USERS_VARIABLE, str(tmp_path / "mine.json"))
    assert UsersFile().path == tmp_path / "mine.json"


def test_nobody_waits_for_ever_for_another_who_keeps_the_file(
    users: UsersFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(users_file, "PATIENCE", 0.01)
    handle = locked(str(users.path.with_name(".users.json.lock")))
    assert handle is not None
    try:
        with pytest.raises(InputError, match=r"another process has kept \.users\.json\.lock for 0\.01 seconds"):
            users.add("Ben", "look", "user")
    finally:
        os.close(handle)
    users.add("Ben", "look", "user")


def test_a_file_in_the_home_of_nobody_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANWIRE_USERS", "~nosuchuser/users.json")
    with pytest.raises(InputError, match="there is no home folder"):
        UsersFile()
    with pytest.raises(InputError, match="there is no home folder"):
        UsersFile("~nosuchuser/other.json")


@pytest.mark.skipif(os.name != "posix", reason="other systems sync no folders")
def test_a_change_is_on_the_disk_with_its_name(users: UsersFile, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a power cut could bring a removed person back."""
    synced: list[tuple[bool, bytes]] = []

    def note(handle: int, sync: Callable[[int], None] = os.fsync) -> None:
        synced.append((stat.S_ISDIR(os.fstat(handle).st_mode), users.path.read_bytes()))
        sync(handle)

    monkeypatch.setattr(os, "fsync", note)
    before = users.path.read_bytes()
    users.change(lambda known: known.removed("Ann"))
    assert synced[0] == (False, before)
    assert (True, users.path.read_bytes()) in synced
    assert before != users.path.read_bytes()
