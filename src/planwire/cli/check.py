"""`planwire check`: an agent's plan traffic against the rules of the protocol, for people and for CI."""

import argparse

import msgspec

from planwire.acp.dialects import dialect_of_option, dialect_options
from planwire.check import Checker, Verdict
from planwire.cli.argument_types import number
from planwire.cli.checked_agent import AgentRun, check_agent
from planwire.cli.driving import ASK, SKIPPABLE
from planwire.cli.input_output import print_json
from planwire.cli.recording import read_recording
from planwire.cli.trying import client_text, try_client
from planwire.cli.verdict_text import verdict_text
from planwire.errors import InputError
from planwire.readmodel.plain_text import one_line

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
  planwire check --learn -- my-agent                keep its ways, so that the relay knows them
  planwire check --client -- my-client {agent}      a client: which plans it reads, shows and loses

capabilities, what the client declares:
  none    version 1, nothing about plans: only `plan` may be sent to it (the default, as in most clients)
  rfd     version 1, `planCapabilities`: the first spelling of the plan-operations proposal
  draft   version 1, `plan`: `plan_update` and `plan_removed`, with `planId`
  v2      version 2
With FILE, --capability matters only if the file lacks the `initialize` of its connection.

The agent gets a session and a prompt, then whatever else it offers: the session is loaded, resumed and forked, and
in another session it plans in plan mode, where the first plan is rejected and the next approved. The last line of the
verdict says what was tried, and after what the agent sent no plan.

The agent works in an empty folder. It may go on with its plan; all its other requests are refused, unless you pass
--allow. Its stderr is passed through.

A client is run with an agent of planwire's, once for each dialect that it announces. {agent} in its command is replaced
by the agent's command, as one word; without it the agent's command is added at the end.

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
    parser.add_argument("--learn", action="store_true", help="keep the agent's ways, for the relay")
    parser.add_argument("--client", action="store_true", help="check a client, which is given an agent of planwire's")
    parser.add_argument("--cwd", metavar="FOLDER", help="where the agent works (an empty folder)")
    parser.add_argument("--save", metavar="FILE", help="keep the conversation, to look up the reported lines")
    parser.add_argument("--allow", action="store_true", help="grant the agent everything it asks for")
    parser.add_argument(
        "what", metavar="FILE | -- AGENT ...", nargs=argparse.REMAINDER, help="recorded lines, or an agent"
    )
    parser.set_defaults(parser=parser)


def run(arguments: argparse.Namespace) -> int:
    what, lessons = arguments.what, list[str]()
    if arguments.client:
        return _check_client(what, arguments)
    if what[:1] == ["--"] and len(what) > 1:
        verdict, lessons = check_agent(what[1:], _run_of(arguments))
    elif what and what[0] != "--":
        if len(what) > 1:  # argparse has not parsed the options after the file
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
        learned = {"learned": lessons} if arguments.learn else {}
        print_json({**counts, **msgspec.structs.asdict(verdict), **learned})
    else:
        print("\n".join([verdict_text(verdict), *map(one_line, lessons)]))
    return 0 if passes else 1


def _run_of(arguments: argparse.Namespace) -> AgentRun:
    return AgentRun(
        capability=arguments.capability or dialect_options()[0],
        prompt=arguments.prompt,
        skips=frozenset(arguments.skip),
        seconds=arguments.timeout,
        allow=arguments.allow,
        script=arguments.script,
        cwd=arguments.cwd,
        save=arguments.save,
        learns=arguments.learn,
    )


def _check_client(what: list[str], arguments: argparse.Namespace) -> int:
    if what[:1] != ["--"] or len(what) < 2:
        raise InputError("no client to check: pass its command after -- (planwire check --client -- CLIENT ARGUMENTS)")
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
