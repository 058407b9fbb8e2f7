"""Rules, their breaches, and findings: one for each thing to mend, however often it occurs."""

from collections.abc import Callable, Iterator
from typing import Final, Generic, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from planwire.acp.dialects import V2
from planwire.model.plan import PlanId

#: The protocol says MUST, or a reader loses something.
ERROR: Final = "error"
#: The protocol says SHOULD, or its page on plans advises it.
WARNING: Final = "warning"

#: Citations where no numbered rule says it: the best practices of the agent-plan page, and the schema.
PRACTICE: Final = "practice"
SCHEMA: Final = "schema"

#: Line numbers in one finding. Twenty examples are enough to mend a defect; `times` counts on.
MAX_LINES: Final = 20
#: The most findings of one connection. An author with more to mend than this learns nothing from another one.
MAX_FINDINGS: Final = 1_000

_SITE: Final = "https://agentclientprotocol.com"
_V1_PLAN: Final = f"{_SITE}/protocol/v1/agent-plan"
_DRAFT_PLAN: Final = f"{_SITE}/protocol/v1/draft/agent-plan"
_V2_PLAN: Final = f"{_SITE}/protocol/v2/agent-plan"
_V2_DRAFT_PLAN: Final = f"{_SITE}/protocol/v2/draft/agent-plan"

#: The page that states each rule.
_PAGES: Final = {
    PRACTICE: f"{_V1_PLAN}#best-practices",
    SCHEMA: f"{_SITE}/protocol/v1/schema",
    "R1": f"{_V1_PLAN}#creating-plans",
    "R2": f"{_V1_PLAN}#updating-plans",
    "R3": f"{_V1_PLAN}#updating-plans",
    "R4": f"{_V1_PLAN}#updating-plans",
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
    "R33": f"{_SITE}/protocol/v1/extensibility",
    "R34": f"{_SITE}/protocol/v1/transports",
    "R35": f"{_SITE}/protocol/v1/transports",
    "R36": f"{_SITE}/protocol/v2/transports",
    "R37": f"{_SITE}/protocol/v1/session-setup",
    "R38": f"{_SITE}/protocol/v1/session-setup",
    "R39": f"{_SITE}/protocol/v2/session-setup",
    "R40": f"{_SITE}/protocol/v2/session-setup",
    "R42": f"{_SITE}/protocol/v1/prompt-turn",
    "R51": f"{_SITE}/protocol/v1/draft/prompt-turn",
    "R53": f"{_SITE}/protocol/v1/schema",
}


class Rule(Struct, frozen=True):
    """One demand on an agent, and how to `mend` a breach: an error, unless `level` says otherwise.

    `number_v2` is its number in version 2, if that differs.
    """

    code: str
    number: str
    asks: str
    mend: str
    level: str = ERROR
    number_v2: str | None = None

    def cited(self, version: int | None) -> str:
        """The number of the rule in a version of the protocol."""
        return self.number_v2 if self.number_v2 and version is not None and version >= V2.version else self.number


class Breach(Struct, frozen=True):
    """One breach of a rule: where in the line's JSON, and how. Breaches with the same `subject` make one finding.

    `line` is the line that broke the rule, if a later one brought it to light. `number` overrides the rule's own.
    `plan` names the plan, if no single update does.
    """

    where: str
    message: str
    subject: str = ""
    line: int | None = None
    number: str | None = None
    plan: PlanId = None


_Subject = TypeVar("_Subject")
_Finder: TypeAlias = Callable[[_Subject], Iterator[Breach]]


class RuleFamily(Generic[_Subject]):
    """Rules about one kind of subject, such as an update or a turn, each with the function that finds its breaches."""

    def __init__(self) -> None:
        self._finders: list[tuple[Rule, _Finder[_Subject]]] = []

    @property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(rule for rule, _ in self._finders)

    def rule(
        self, number: str, asks: str, mend: str, level: str = ERROR, number_v2: str | None = None
    ) -> Callable[[_Finder[_Subject]], _Finder[_Subject]]:
        """Declare a rule on the function that finds its breaches. The function's name is the rule's code: `_left_out`
        is `left-out`."""

        def add(find: _Finder[_Subject]) -> _Finder[_Subject]:
            code = find.__name__.strip("_").replace("_", "-")
            self._finders.append((Rule(code, number, asks, mend, level, number_v2), find))
            return find

        return add

    def breaches(self, subject: _Subject) -> Iterator[tuple[Rule, Breach]]:
        """Every breach of every rule of the family."""
        for rule, find in self._finders:
            for breach in find(subject):
                yield rule, breach


def by_code(*rules: Rule) -> dict[str, Rule]:
    """The given rules by their codes. Other code finds their breaches."""
    return {rule.code: rule for rule in rules}


class Finding(Struct, frozen=True):
    """One thing to mend, for an agent's author. If it occurred several `times`, `line`, `session` and `plan` are those
    of the first."""

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


class Findings:
    """All findings of a connection. A breach that comes again only raises the count of its finding."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], Finding] = {}

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
        found = self._found.get(key)
        if found is None:
            if len(self._found) >= MAX_FINDINGS:
                return
            found = Finding(
                rule.level,
                number,
                rule.code,
                breach.message,
                rule.mend,
                _PAGES[number],
                line,
                breach.where,
                session,
                breach.plan if plan is None else plan,
                times=0,
            )
        is_new = line is not None and len(found.lines) < MAX_LINES and line not in found.lines[-1:]
        lines = (*found.lines, line) if is_new else found.lines
        self._found[key] = replace(found, times=found.times + 1, lines=lines)

    def all(self) -> tuple[Finding, ...]:
        """The findings, errors first, then in the order of their lines."""
        return tuple(sorted(self._found.values(), key=lambda finding: (finding.level != ERROR, finding.line or 0)))
