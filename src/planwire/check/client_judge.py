"""The judge of a client: each trial's lines, the client's output and its exit code in, what it lost out.

Much of a client can't be seen from outside. The judge goes by what an agent can observe (answers, and whether the
client stays) and what a person could read (its output). A client with a window shows nothing on stdout, so plans count
as lost only if the client prints the agent's message but not them. Complaints on stderr count only if the trial
without plans has none like them.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec import Struct

from planwire.acp.conversation import AGENT, CLIENT, name_in, value_of
from planwire.check.findings import ERROR, Breach, Finding, Findings
from planwire.check.table import CLIENT_RULES
from planwire.check.trials import BARE, MESSAGE, PERMISSION, PROBE, UNKNOWN, Trial, sent_in

_STYLES: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")
_COMPLAINT: Final = re.compile(
    r"error|invalid|unexpected|unhandled|traceback|exception|fail|reject|refus", re.IGNORECASE
)
_VARIES: Final = re.compile(r"[0-9a-f-]*[0-9][0-9a-f-]*")


class TrialRun(Struct, frozen=True):
    """One run of a client: the lines of both sides, its output, and its exit code; None if it had to be stopped."""

    trial: Trial
    lines: tuple[tuple[str, bytes], ...]
    stdout: str
    stderr: str
    exit_code: int | None


class TextsShown(Struct, frozen=True):
    """One kind of update, and how many of the texts in it the client printed."""

    what: str
    shown: int
    texts: int


class TrialVerdict(Struct, frozen=True):
    """The result of one trial. `prints`: the client printed the agent's message; `updates` mean something only then."""

    trial: str
    over: bool
    prints: bool
    answer: str | None
    updates: tuple[TextsShown, ...]


class ClientVerdict(Struct, frozen=True):
    """What a client announces, and what it lost in each trial."""

    findings: tuple[Finding, ...]
    client: str | None
    version: int | None
    announces: tuple[str, ...]
    trials: tuple[TrialVerdict, ...]

    def passes(self, *, strict: bool = False) -> bool:
        return not (self.findings if strict else [each for each in self.findings if each.level == ERROR])


def greeting_in(run: TrialRun) -> Any:
    """The `params` of the client's `initialize`, empty if it has none; None if it never came."""
    return next((each.get("params") or {} for each in _said(run, CLIENT) if each.get("method") == "initialize"), None)


def judge(runs: Iterable[TrialRun]) -> ClientVerdict:
    """The verdict on a client, from all of its runs; the first has no plans."""
    runs = tuple(runs)
    findings, usual = Findings(), set(_complaints(runs[0]))
    trials = []
    for run in runs:
        trial = _trial_verdict(run)
        trials.append(trial)
        for code, message in _breaches(run, trial, usual):
            findings.add(
                CLIENT_RULES[code], Breach("", f"{run.trial.name}: {message}", f"{code} {run.trial.name}"), None
            )
    greeting = greeting_in(runs[0])
    about = greeting.get("clientInfo") or greeting.get("info") if isinstance(greeting, dict) else None
    announced = tuple(run.trial.name for run in runs if run.trial.name not in (BARE, UNKNOWN))
    return ClientVerdict(findings.all(), name_in(about), _version(greeting), announced, tuple(trials))


def _trial_verdict(run: TrialRun) -> TrialVerdict:
    printed = _plain(run.stdout)
    counts: dict[str, tuple[int, int]] = {}
    for sent in sent_in(run.trial):
        if sent.texts:
            shown, of = counts.get(sent.what, (0, 0))
            counts[sent.what] = shown + sum(_plain(text) in printed for text in sent.texts), of + len(sent.texts)
    updates = tuple(TextsShown(what, *count) for what, count in counts.items())
    return TrialVerdict(run.trial.name, _is_over(run), _plain(MESSAGE) in printed, _answer(run), updates)


def _breaches(run: TrialRun, trial: TrialVerdict, usual: set[str]) -> Iterator[tuple[str, str]]:
    asked = {each["id"] for each in _said(run, AGENT) if "method" in each and "id" in each}
    said = [each for each in _said(run, CLIENT) if "method" not in each]
    answers = {each["id"]: each for each in said if isinstance(each.get("id"), str)}  # as the agent's ids are
    if run.trial.name == BARE and _version(greeting_in(run)) is None:
        yield "no-version", "`initialize` named no `protocolVersion`"
    if not trial.over and run.exit_code is not None:
        yield "client-ended", f"the client ended with exit code {run.exit_code} before the turn did"
    elif PERMISSION in asked - answers.keys():
        yield "question-unanswered", "the client did not answer the question about a plan"
    elif PROBE in asked and "error" not in answers.get(PROBE, {}):
        found = "answered with a result" if PROBE in answers else "not answered"
        yield "probe-unanswered", f"`_planwire/probe` was {found}"
    if run.trial.name != UNKNOWN:
        for line in [each for each in _complaints(run) if each not in usual][:1]:
            yield "complained", f"on stderr: {line}"
    lost = [each.what for each in trial.updates if not each.shown]
    if trial.prints and lost:
        yield "not-shown", f"the client printed the agent's message, but nothing of `{'`, `'.join(lost)}`"


def _version(greeting: Any) -> int | None:
    """The version of the protocol that a client asks for."""
    version = greeting.get("protocolVersion") if isinstance(greeting, dict) else None
    return version if isinstance(version, int) else None


def _is_over(run: TrialRun) -> bool:
    """Whether the agent ended the turn, as it does once it has every answer that it waits for."""
    return any(b'"stopReason"' in line for sender, line in run.lines if sender == AGENT)


def _answer(run: TrialRun) -> str | None:
    """How the client answered the question about a plan."""
    for each in _said(run, CLIENT):
        if each.get("id") == PERMISSION and "method" not in each:
            match each.get("result"):
                case {"outcome": {"optionId": str(option)}}:
                    return option
                case {"outcome": {"outcome": str(outcome)}}:
                    return outcome
            return "error"
    return None


def _said(run: TrialRun, side: str) -> Iterator[dict[str, Any]]:
    for sender, line in run.lines:
        if sender == side and isinstance(message := value_of(line), dict):
            yield message


def _complaints(run: TrialRun) -> list[str]:
    lines = _STYLES.sub("", run.stderr).splitlines()
    return [_VARIES.sub("…", line.strip()) for line in lines if _COMPLAINT.search(line)]


def _plain(text: str) -> str:
    """A text without its styles, punctuation and line breaks, in lower case: clients wrap and decorate."""
    return re.sub(r"[\W_]+", " ", _STYLES.sub("", text)).casefold()
