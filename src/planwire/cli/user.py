"""`planwire user`: the people of a team's board, their roles, and their browsers and tokens."""

import argparse
from collections.abc import Callable
from time import time_ns
from typing import Final

from msgspec.structs import replace

from planwire.cli.acting_person import acting_person, add_person_options
from planwire.cli.command_parser import HelpFormatter
from planwire.cli.exit_codes import DONE
from planwire.cli.input_output import print_json
from planwire.errors import InputError, NotFound, NothingChanges
from planwire.readmodel.plain_text import ago, one_line
from planwire.session.team_users import CODE_LIFE, AccessKey, TeamUser, checked_role
from planwire.session.users_file import UsersFile
from planwire.steering.roles import ROLES, STEER

DESCRIPTION = "The users of a team's board: who they are, what they may do, and their browsers and tokens."

EXAMPLES = """\
examples:
  planwire user add Ann                      Ann may look and steer; prints a code for her browser
  planwire user add Ben --role approve       Ben also approves plans, and answers agents
  planwire user code Ann                     a new code, for another browser of hers
  planwire user token Ann                    a token for her programs, shown once
  planwire user role Ann look                from now on she only looks
  planwire user list                         everybody, with their browsers and tokens
  planwire user sign-out Ann                 ends her browsers and tokens at once; a code lets her in again
  planwire user remove Ann                   she is out at once; what she said stays, with her name

Users are kept in a private file: --users FILE, or PLANWIRE_USERS, or users.json in the folder of planwire's data. A
running board notices every change. Roles: look reads; steer also comments, suggests, ticks, requests changes, tells now
and stops; approve also approves and dismisses plans, and answers agents' questions.
"""

_WHO: Final = "the user's name"
_Handler = Callable[[argparse.Namespace, UsersFile, str], tuple[dict[str, object], str]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    doing = parser.add_subparsers(title="what to do", metavar="DO", required=True, dest="do")
    add = _action(doing, "add", "add a user, and print a code for their browser")
    add.add_argument(
        "--role", metavar="ROLE", choices=list(ROLES), default=STEER, help=f"{' | '.join(ROLES)} ({STEER})"
    )
    listed = doing.add_parser("list", help="list the users, with their browsers and tokens")
    _add_file(listed)
    _action(doing, "remove", "remove a user: their browsers, tokens and streams end at once")
    role = _action(doing, "role", "give a user another role")
    role.add_argument("role", metavar="ROLE", choices=list(ROLES), help=" | ".join(ROLES))
    _action(doing, "code", "print a code that pairs one browser, within ten minutes")
    _action(doing, "token", "print a token for programs; it is shown once")
    out = _action(doing, "sign-out", "end the browsers and tokens of a user, or one of them")
    out.add_argument("--only", metavar="KEY", help="only that one; planwire user list shows their ids")


def _action(
    doing: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, help: str
) -> argparse.ArgumentParser:
    sentence = f"{help[0].upper()}{help[1:]}."
    parser = doing.add_parser(name, help=help, description=sentence, formatter_class=HelpFormatter)
    parser.add_argument("name", metavar="NAME", help=_WHO)
    _add_file(parser)
    add_person_options(parser, yes="with --as: do it in a script, or below an agent")
    return parser


def _add_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--users", metavar="FILE", help="the file of the users (default: PLANWIRE_USERS)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    users = UsersFile(arguments.users)
    if arguments.do == "list":
        _list(users, as_json=arguments.json)
        return DONE
    by = acting_person(arguments)
    value, words = _DO[arguments.do](arguments, users, by)
    if arguments.json:
        print_json({"user": arguments.name, **value})
    else:
        print(words)
    return DONE


def _add(arguments: argparse.Namespace, users: UsersFile, by: str) -> tuple[dict[str, object], str]:
    users.add(arguments.name, arguments.role, by)
    value, words = _code(arguments, users, by)
    return {"role": arguments.role, **value}, f"Added {arguments.name}, who {ROLES[arguments.role]}. {words}"


def _remove(arguments: argparse.Namespace, users: UsersFile, _by: str) -> tuple[dict[str, object], str]:
    users.change(lambda known: known.removed(arguments.name))
    return {"removed": True}, f"Removed {one_line(arguments.name)}: out at once. What they said stays, with their name."


def _role(arguments: argparse.Namespace, users: UsersFile, _by: str) -> tuple[dict[str, object], str]:
    role = checked_role(arguments.role)
    if users.read().named(arguments.name).role == role:
        raise NothingChanges(f"{one_line(arguments.name)} {ROLES[role]} already.")
    users.change(lambda known: known.changed(arguments.name, lambda user: replace(user, role=role)))
    return {"role": role}, f"{one_line(arguments.name)} {ROLES[role]} from now on."


def _code(arguments: argparse.Namespace, users: UsersFile, _by: str) -> tuple[dict[str, object], str]:
    code, minutes = users.pairing_code(arguments.name), CODE_LIFE // 60_000
    how = f"Open the board in a browser and type it there; it works once, within {minutes} minutes."
    return {"code": code, "minutes": minutes}, f"The code is {code}\n{how}"


def _token(arguments: argparse.Namespace, users: UsersFile, _by: str) -> tuple[dict[str, object], str]:
    token = users.token(arguments.name)
    return {"token": token}, f"The token is {token}\nPrograms send it as a Bearer token. It is not shown again."


def _sign_out(arguments: argparse.Namespace, users: UsersFile, _by: str) -> tuple[dict[str, object], str]:
    user = users.read().named(arguments.name)
    if arguments.only is not None and arguments.only not in [each.id for each in user.keys]:
        known = ", ".join(each.id for each in user.keys) or "none"
        raise NotFound(f"{user.name} has no browser or token {one_line(arguments.only)!r}; there are: {known}")
    ended = users.sign_out(arguments.name, arguments.only)
    has_code = arguments.only is None and user.code is not None and user.code.until > time_ns() // 1_000_000
    if not ended and not has_code:
        raise NothingChanges(f"{user.name} has no browser and no token.")
    words = f"Ended {ended} of {user.name}'s browsers and tokens." if ended else f"{user.name} is signed in nowhere."
    return {"ended": ended}, f"{words} The open code no longer works." if has_code else words


_DO: Final[dict[str, _Handler]] = {
    "add": _add,
    "remove": _remove,
    "role": _role,
    "code": _code,
    "token": _token,
    "sign-out": _sign_out,
}


def _list(users: UsersFile, *, as_json: bool) -> None:
    known, now = users.read().users, time_ns() // 1_000_000
    if as_json:
        print_json({"users": [_json(each, now) for each in known]})
        return
    if not known:
        raise InputError(f"there are no users in {users.path}: {users.how_to_add} adds one")
    for user in known:
        by = f" by {user.by}" if user.by != "user" else ""
        print(f"{one_line(user.name)}  {user.role}  added {ago(user.added, now)}{by}")
        if user.code and user.code.until > now:
            print(f"    a code is open for {(user.code.until - now) // 60_000 + 1} more minutes")
        for key in user.keys:
            print(f"    {key.id}  {key.about or 'token'}, {_use(key, now)}")


def _use(key: AccessKey, now: int) -> str:
    """When a browser or token was last used. A browser is used as soon as it is paired; a token may never be."""
    is_new = not key.about and key.used == key.made
    return f"made {ago(key.made, now)}, not used yet" if is_new else f"last used {ago(key.used, now)}"


def _json(user: TeamUser, now: int) -> dict[str, object]:
    def keys(found: tuple[AccessKey, ...]) -> list[dict[str, object]]:
        return [{"id": each.id, "about": each.about, "made": each.made, "used": each.used} for each in found]

    return {
        "name": user.name,
        "role": user.role,
        "added": user.added,
        "by": user.by,
        "code_until": user.code.until if user.code and user.code.until > now else None,
        "browsers": keys(user.browsers),
        "tokens": keys(user.tokens),
    }
