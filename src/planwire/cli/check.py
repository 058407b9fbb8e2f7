"""`planwire check`: an agent's plan traffic against the rules of the protocol, for people and for CI."""

import argparse
import os
import re
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, Final

import msgspec

from planwire import __version__
from planwire.acp.dialects import dialect_of_option, dialect_options
from planwire.check import ERROR, Checker, Finding, Verdict
from planwire.cli.agent_client import AgentClient, AgentTrouble, Decider
from planwire.cli.argument_types import number
from planwire.cli.input_output import print_json
from planwire.cli.recording import RecordedLine, as_recorded, read_recording
from planwire.errors import InputError, reason
from planwire.readmodel.plain_text import one_line

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]

PROMPT: Final = (
    "Make a plan of three short steps for choosing a name for a cat: collect five names, compare them, pick one. Put "
    "it into your plan or to-do tool, mark each step as you begin and finish it, and tell me the name. Touch no files."
)

DESCRIPTION = "Check what an agent sends about plans: which rules it breaks, where, and how to fix it."

EXAMPLES = """\
examples:
  planwire check session.jsonl                      a recorded session
  planwire check -- my-agent --acp                  start the agent, give it a session and a prompt, judge what it sends
  planwire check --capability draft -- my-agent     the same as a client that reads plan_update and plan_removed
  planwire check --save run.jsonl -- my-agent       keep the conversation: `planwire replay run.jsonl --step` shows it
  planwire check --strict --json -- my-agent        in CI: warnings count, JSON on standard output

capabilities, what the client declares:
  none    version 1, nothing about plans: only `plan` may be sent to it (the default, as in most clients)
  rfd     version 1, `planCapabilities`: the first spelling of the plan-operations proposal
  draft   version 1, `plan`: `plan_update` and `plan_removed`, with `planId`
  v2      version 2
With FILE, --capability matters only if the file lacks the `initialize` of its connection.

The agent works in an empty folder. It may go on with its plan; all its other requests are refused, unless you pass
--allow. Its stderr is passed through.

The exit code is 0 if no rule is broken, 1 if one is, 2 if nothing could be checked.
"""


_seconds = number("a number of seconds, up to a day", float, lambda seconds: 0 < seconds <= 86_400)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "planwire check [options] FILE\n       planwire check [options] -- AGENT [ARGUMENT ...]"
    parser.add_argument("--strict", action="store_true", help="warnings count too")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--capability", metavar="WORD", choices=dialect_options(), help=" | ".join(dialect_options()))
    parser.add_argument("--prompt", metavar="TEXT", default=PROMPT, help="what the agent is asked (for a small plan)")
    parser.add_argument(
        "--timeout", metavar="SECONDS", type=_seconds, default=120.0, help="the time limit for the whole check (120)"
    )
    parser.add_argument("--cwd", metavar="FOLDER", help="where the agent works (an empty folder)")
    parser.add_argument("--save", metavar="FILE", help="keep the conversation, to look up the reported lines")
    parser.add_argument("--allow", action="store_true", help="grant the agent everything it asks for")
    parser.add_argument(
        "what", metavar="FILE | -- AGENT ...", nargs=argparse.REMAINDER, help="recorded lines, or an agent"
    )
    parser.set_defaults(parser=parser)


def run(arguments: argparse.Namespace) -> int:
    what = arguments.what
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
        print(_text(verdict))
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
    checker = Checker()
    capability = arguments.capability or "none"
    number = None
    with (
        _folder(arguments.cwd) as cwd,
        _kept(arguments.save) as kept,
        closing(AgentClient(command, arguments.timeout, Decider(allow=arguments.allow))) as client,
    ):
        try:
            for recorded in _conversation(client, capability, cwd, arguments.prompt):
                number = recorded.number
                kept.write(as_recorded(recorded))
                checker.hear(recorded.line, recorded.sender, number)
        except AgentTrouble as trouble:
            checker.accuse(trouble.code, str(trouble), number)
            return checker.close()
    if not checker.updates:
        checker.accuse("no-plan-sent", "the agent was asked for a plan, and no plan update came", number)
    return checker.close()


def _conversation(client: AgentClient, capability: str, cwd: str, prompt: str) -> Iterator[RecordedLine]:
    """One session with one prompt. Raises `AgentTrouble`."""
    about = {"name": "planwire-check", "title": "planwire check", "version": __version__}
    hello = dialect_of_option(capability).initialize()
    hello["info" if "capabilities" in hello else "clientInfo"] = about
    greeting = yield from client.ask("initialize", hello)
    version = greeting.get("protocolVersion")
    if not isinstance(version, int):
        raise AgentTrouble("refused", "`initialize` was answered without a `protocolVersion`")
    begun = yield from client.ask("session/new", {"cwd": cwd, "mcpServers": []})
    session = begun.get("sessionId")
    if not isinstance(session, str):
        raise AgentTrouble("refused", "`session/new` was answered without a `sessionId`")
    blocks = [{"type": "text", "text": prompt}]
    ended = yield from client.ask("session/prompt", {"sessionId": session, "prompt": blocks})
    if version == 2 and "stopReason" not in ended:  # the answer only confirms the message
        yield from client.until_idle(session)


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


def _text(verdict: Verdict) -> str:
    """The verdict for people: one block per finding, then a line that counts them. Files and pipes get no styles."""
    text = "\n\n".join([*map(_block, verdict.findings), _summary(verdict)])
    has_styles = sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    return text if has_styles else re.sub("\x1b\\[[0-9;]*m", "", text)


def _painted(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m"


def _block(finding: Finding) -> str:
    style = "31;1" if finding.level == ERROR else "33;1"
    place = [] if finding.line is None else [f"line {finding.line}"]
    if finding.where:
        place.append(finding.where)
    if finding.plan is not None:
        place.append(f"plan {finding.plan}")
    if finding.times > 1:
        others = f"{finding.times} times"
        more = [str(line) for line in finding.lines[1:6]]
        place.append(f"{others}, also at {', '.join(more)}{', …' if finding.times > 6 else ''}" if more else others)
    head = f"{_painted(finding.level, style)} {_painted(finding.rule, '1')} {one_line(finding.message)}"
    rows = [("at", " · ".join(place)), ("fix", finding.mend), ("see", f"{finding.reference} ({finding.code})")]
    return "\n".join([head, *(f"  {_painted(f'{name:<5}', '2')}{one_line(text)}" for name, text in rows if text)])


def _summary(verdict: Verdict) -> str:
    found = ", ".join(
        (_count(verdict.errors, "error"), _count(verdict.warnings, "warning")) if verdict.findings else ("no findings",)
    )
    seen = f"{_count(verdict.updates, 'plan update')} in {_count(verdict.sessions, 'session')}"
    unknown = "dialect not known" + (": --capability says which" if verdict.updates else "")
    spoken = f"dialect {verdict.dialect}" if verdict.dialect else unknown
    who = [one_line(verdict.agent)] if verdict.agent else []
    style = "31;1" if verdict.errors else "33;1" if verdict.warnings else "32;1"
    return f"{_painted(found, style)} · {' · '.join([seen, spoken, *who])}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
