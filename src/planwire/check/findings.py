"""What a rule is, what breaks it, and what is told of it: one finding for each thing to mend, however often it came."""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from planwire.acp.dialects import V2

__all__ = ["ERROR", "PRACTICE", "SCHEMA", "WARNING", "Breach", "Finding", "Findings", "Rule"]

#: The protocol says MUST, or a reader loses something.
ERROR: Final = "error"
#: The protocol says SHOULD, or its page on plans advises it.
WARNING: Final = "warning"

#: What is cited where no numbered rule says it: the best practices of the agent-plan page, and the schema.
PRACTICE: Final = "practice"
SCHEMA: Final = "schema"

#: Numbers of lines that a finding remembers; how often it came is counted beyond that.
MAX_LINES: Final = 20
#: Findings that are kept. Who has more to mend than this learns nothing new after it.
MAX_FINDINGS: Final = 1_000

_SITE: Final = "https://agentclientprotocol.com"
_V1_PLAN: Final = f"{_SITE}/protocol/v1/agent-plan"
_DRAFT_PLAN: Final = f"{_SITE}/protocol/v1/draft/agent-plan"
_V2_PLAN: Final = f"{_SITE}/protocol/v2/agent-plan"
_V2_DRAFT_PLAN: Final = f"{_SITE}/protocol/v2/draft/agent-plan"

#: Where each rule is written down.
_PAGES: Final = {
    PRACTICE: f"{_V1_PLAN}#best-practices",
    SCHEMA: f"{_SITE}/protocol/v1/schema",
    "R1": f"{_V1_PLAN}#creating-plans",
    "R2": f"{_V1_PLAN}#updating-plans",
    "R3": f"{_V1_PLAN}#updating-plans",
    "R6": f"{_V1_PLAN}#plan-entries",
    "R7": f"{_V1_PLAN}#plan-entries",
    "R8": _DRAFT_PLAN,
    "R11": _DRAFT_PLAN,
    "R12": f"{_SITE}/rfds/plan-operations",
    "R13": _DRAFT_PLAN,
    "R17": _V2_PLAN,
    "R18": _V2_PLAN,
    "R19": _V2_PLAN,
    "R22": f"{_SITE}/rfds/v2/enum-variant-extension",
    "R25": _V2_DRAFT_PLAN,
    "R29": f"{_SITE}/rfds/v2/plan-variants",
    "R30": f"{_SITE}/protocol/v1/initialization",
    "R31": f"{_SITE}/protocol/v1/extensibility",
    "R34": f"{_SITE}/protocol/v1/transports",
    "R35": f"{_SITE}/protocol/v1/transports",
    "R36": f"{_SITE}/protocol/v2/transports",
    "R37": f"{_SITE}/protocol/v1/session-setup",
    "R38": f"{_SITE}/protocol/v1/session-setup",
    "R39": f"{_SITE}/protocol/v2/session-setup",
    "R42": f"{_SITE}/protocol/v1/prompt-turn",
    "R51": f"{_SITE}/protocol/v1/draft/prompt-turn",
    "R53": f"{_SITE}/protocol/v1/schema",
}


class Rule(Struct, frozen=True):
    """One thing that is asked of an agent. `number_v2` is its number where protocol version 2 says it elsewhere."""

    code: str
    number: str
    level: str
    asks: str
    mend: str
    number_v2: str | None = None

    def cited(self, version: int | None) -> str:
        """The number of the rule in that version of the protocol."""
        return self.number_v2 if self.number_v2 and version is not None and version >= V2.version else self.number


class Breach(Struct, frozen=True):
    """A rule is broken: where in the line's JSON, and how. Breaches of one subject are one finding.

    `line` is where it happened, if that is not the line at which it showed.
    """

    where: str
    message: str
    subject: str = ""
    line: int | None = None
    number: str | None = None


class Finding(Struct, frozen=True):
    """What an author reads: what is broken, where, and how to mend it. Where it is broken `times` times, `line`,
    `session` and `plan` are those of the first."""

    level: str
    rule: str
    code: str
    message: str
    mend: str
    reference: str
    line: int | None
    where: str
    session: str | None = None
    plan: str | None = None
    times: int = 1
    lines: tuple[int, ...] = ()


class _Gathered(Struct):
    first: Finding
    times: int
    lines: list[int]


class Findings:
    """All findings of a connection. What is broken again in the same way is counted, not repeated."""

    def __init__(self) -> None:
        self._gathered: dict[tuple[str, str, str], _Gathered] = {}

    def add(
        self,
        rule: Rule,
        breach: Breach,
        line: int | None,
        *,
        session: str | None = None,
        plan: str | None = None,
        version: int | None = None,
    ) -> None:
        line = breach.line or line
        number = breach.number or rule.cited(version)
        key = (rule.code, number, breach.subject)
        gathered = self._gathered.get(key)
        if gathered is None:
            if len(self._gathered) >= MAX_FINDINGS:
                return
            first = Finding(
                rule.level,
                number,
                rule.code,
                breach.message,
                rule.mend,
                _PAGES[number],
                line,
                breach.where,
                session,
                plan,
            )
            gathered = self._gathered[key] = _Gathered(first, 0, [])
        gathered.times += 1
        if line is not None and len(gathered.lines) < MAX_LINES and line not in gathered.lines[-1:]:
            gathered.lines.append(line)

    def all(self) -> tuple[Finding, ...]:
        """The findings, errors first, each kind in the order of the lines."""
        made = [_counted(each) for each in self._gathered.values()]
        return tuple(sorted(made, key=lambda finding: (finding.level != ERROR, finding.line or 0)))


def _counted(gathered: _Gathered) -> Finding:
    return replace(gathered.first, times=gathered.times, lines=tuple(gathered.lines))
