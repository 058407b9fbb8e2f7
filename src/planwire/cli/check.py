"""`planwire check`: an agent's plan traffic against the rules of the protocol, for people and for CI."""

import argparse
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

import msgspec

from planwire.acp.dialects import dialect_of_option, dialect_options
from planwire.check import Checker, Verdict
from planwire.check.play import DEFAULT, Play, Script, read_script
from planwire.cli.agent_client import AgentClient, AgentTrouble
from planwire.cli.argument_types import number
from planwire.cli.deciding import Decider
from planwire.cli.driving import ASK, SKIPPABLE, Course, Driver
from planwire.cli.input_output import opened, print_json
from planwire.cli.recording import as_recorded, read_recording
from planwire.cli.scripted_home import furnish
from planwire.cli.scripted_model import ScriptedModel
from planwire.cli.trying import client_text, try_client
from planwire.cli.verdict_text import verdict_text
from planwire.errors import InputError, reason

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]

DESCRIPTION = "Check what an agent sends about plans: which rules it breaks, where, and how to fix it."

EXAMPLES = """\
examples:
  planwire check session.jsonl                      a recorded session
  planwire check -- my-agent --acp                  start the agent, give it a session and a prompt, judge what it sends
  planwire check --capability draft -- my-agent     the same as a client that reads plan_update and plan_removed
  planwire check --skip fork,plan-mode -- my-agent  leave out some of what the agent offers
  planwire check --save run.jsonl -- my-agent       keep the conversation: `planwire replay run.jsonl --step` shows it
  planwire check --strict --json -- my-agent        in CI: warnings count, JSON on standard output
  planwire check --script default -- my-agent       without a key: the agent's model is scripted
  planwire check --client -- my-client {agent}      a client: which plans it reads, shows and loses

capabilities, what the client declares:
  none    version 1, nothing about plans: only `plan` may be sent to it (the default, as in most clients)
  rfd     version 1, `planCapabilities`: the first spelling of the plan-operations proposal
  draft   version 1, `plan`: `plan_update` and `plan_removed`, with `planId`
  v2      version 2
With FILE, --capability matters only if the file lacks the `initialize` of its connection.

The agent gets a session and a prompt, then whatever else it offers: the session is loaded, resumed and forked, and
another one is planned in plan mode, where the first plan is rejected and the next approved. The last line of the
verdict says what was driven, and after what no plan was told.

The agent works in an empty folder. It may go on with its plan; all its other requests are refused, unless you pass
--allow. Its stderr is passed through.

A client is run with an agent of planwire's, once for each dialect that it announces. {agent} in its command stands for
the agent's, as one word; without it the agent's command comes last.

The exit code is 0 if no rule is broken, 1 if one is, 2 if nothing could be checked.
"""


_seconds = number("a number of seconds, up to a day", float, lambda seconds: 0 < seconds <= 86_400)


def _skipped(text: str) -> tuple[str, ...]:
    words = tuple(word.strip().replace("-", " ") for word in text.split(",") if word.strip())
    unknown = next((word for word in words if word not in SKIPPABLE), None)
    if unknown is not None:
        raise argparse.ArgumentTypeError(f"{unknown!r} can't be left out: use {', '.join(SKIPPABLE)}")
    return words


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "planwire check [options] FILE\n       planwire check [options] -- AGENT [ARGUMENT ...]\n"
    parser.usage += "       planwire check [options] --client -- CLIENT [ARGUMENT ...]"
    parser.add_argument("--strict", action="store_true", help="warnings count too")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--capability", metavar="WORD", choices=dialect_options(), help=" | ".join(dialect_options()))
    parser.add_argument("--prompt", metavar="TEXT", help="what the agent is asked (for a small plan)")
    parser.add_argument(
        "--skip",
        metavar="WORDS",
        type=_skipped,
        default=(),
        help=f"leave these out, with commas between them: {', '.join(SKIPPABLE)}",
    )
    parser.add_argument(
        "--timeout", metavar="SECONDS", type=_seconds, default=300.0, help="the time limit for the whole check (300)"
    )
    parser.add_argument(
        "--script",
        metavar="FILE",
        help="run the agent on a scripted model, without a key: a script, or `default` for the one that is built in",
    )
    parser.add_argument("--client", action="store_true", help="check a client, which is given an agent of planwire's")
    parser.add_argument("--cwd", metavar="FOLDER", help="where the agent works (an empty folder)")
    parser.add_argument("--save", metavar="FILE", help="keep the conversation, to look up the reported lines")
    parser.add_argument("--allow", action="store_true", help="grant the agent everything it asks for")
    parser.add_argument(
        "what", metavar="FILE | -- AGENT ...", nargs=argparse.REMAINDER, help="recorded lines, or an agent"
    )
    parser.set_defaults(parser=parser)


def run(arguments: argparse.Namespace) -> int:
    what = arguments.what
    if arguments.client:
        return _check_client(what, arguments)
    if what[:1] == ["--"] and len(what) > 1:
        verdict = _check_agent(what[1:], arguments)
    elif what and what[0] != "--":
        if len(what) > 1:  # argparse has not parsed the options behind the file
            arguments.what = []
            arguments.parser.parse_args(what[1:], arguments)
            if arguments.what:
                raise InputError(f"one file at a time, not {arguments.what[0]!r} too. An agent's command goes after --")
        verdict = _check_file(what[0], arguments.capability)
    else:
        raise InputError("nothing to check: pass a file or an agent's command (planwire check -- AGENT ARGUMENTS)")
    passes = verdict.passes(strict=arguments.strict)
    if arguments.json:
        counts = {"passes": passes, "errors": verdict.errors, "warnings": verdict.warnings}
        print_json({**counts, **msgspec.structs.asdict(verdict)})
    else:
        print(verdict_text(verdict))
    return 0 if passes else 1


def _check_client(what: list[str], arguments: argparse.Namespace) -> int:
    if what[:1] != ["--"] or len(what) < 2:
        raise InputError("no client to check: pass its command behind -- (planwire check --client -- CLIENT ARGUMENTS)")
    verdict = try_client(what[1:], arguments.prompt or ASK, arguments.timeout)
    passes = verdict.passes(strict=arguments.strict)
    if arguments.json:
        print_json({"passes": passes, **msgspec.structs.asdict(verdict)})
    else:
        print(client_text(verdict))
    return 0 if passes else 1


def _check_file(name: str, capability: str | None) -> Verdict:
    checker = Checker(dialect_of_option(capability) if capability else None)
    recorded = None
    for recorded in read_recording(name):
        checker.hear(recorded.line, recorded.sender, recorded.number)
    if recorded is None:
        raise InputError(f"{name} is empty: there is nothing to check. Was the agent's output recorded?")
    return checker.close()


def _check_agent(command: list[str], arguments: argparse.Namespace) -> Verdict:
    checker, decider = Checker(), Decider(allow=arguments.allow)
    number = None
    with (
        _folder(arguments.cwd) as cwd,
        _kept(arguments.save) as kept,
        _model(arguments.script, cwd) as (environment, begins),
        closing(AgentClient(command, arguments.timeout, decider, environment)) as client,
    ):
        course = Course(arguments.capability or "none", cwd, arguments.prompt, frozenset(arguments.skip))
        try:
            for recorded in Driver(client, decider, course, checker.accuse, begins).conversation():
                number = recorded.number
                kept.write(as_recorded(recorded))
                checker.hear(recorded.line, recorded.sender, number)
        except AgentTrouble as trouble:
            checker.accuse(trouble.code, str(trouble), number)
            return checker.close()
    if not checker.updates:
        checker.accuse("no-plan-sent", "the agent was asked for a plan, and no plan update came", number)
    return checker.close()


@contextmanager
def _model(name: str | None, project: str) -> Iterator[tuple[dict[str, str | None], Callable[[str], None]]]:
    """The agent's environment and the function that says which part of the script begins: none without a script."""
    if name is None:
        yield {}, lambda part: None
        return
    script = Script()
    if name != DEFAULT:
        with opened(name) as file:
            script = read_script(file.read(), name)
    play = Play(script.parts)
    with (
        TemporaryDirectory(prefix="planwire-home-", ignore_cleanup_errors=True) as home,
        ScriptedModel(ending=play) as model,
    ):
        yield furnish(Path(home), project, model.url, script), play.begin


def _folder(name: str | None) -> AbstractContextManager[str]:
    """The agent's folder as an absolute path: the named one, or an empty one that goes afterwards."""
    if name is None:
        return TemporaryDirectory(prefix="planwire-check-", ignore_cleanup_errors=True)
    if not Path(name).is_dir():
        raise InputError(f"{name} is not a folder: pass --cwd an existing one, or leave it out")
    return nullcontext(str(Path(name).resolve()))


@contextmanager
def _kept(name: str | None) -> Iterator[BinaryIO]:
    """The file to record lines in: the named one, or the one that keeps nothing."""
    try:
        with Path(name or os.devnull).open("wb") as file:
            yield file
    except OSError as error:
        raise InputError(f"{name} can't be written: {reason(error)}. Pass --save another file") from None
