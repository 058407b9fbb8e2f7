"""A check's verdict for people: a block for each finding, then a line that sums up."""

import os
import re
import sys
from collections.abc import Sequence

from planwire.check import ERROR, Finding, Verdict
from planwire.check.offers import RESUME
from planwire.readmodel.authors import program_name
from planwire.readmodel.plain_text import counted, one_line


def verdict_text(verdict: Verdict) -> str:
    """One block per finding, then a line that counts them."""
    return unpainted_unless_seen("\n\n".join([*map(block, verdict.findings), _summary(verdict)]))


def unpainted_unless_seen(text: str) -> str:
    """The text with its styles on a terminal, and without them in files and pipes."""
    has_styles = sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    return text if has_styles else re.sub("\x1b\\[[0-9;]*m", "", text)


def painted(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m"


def block(finding: Finding) -> str:
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
    head = f"{painted(finding.level, style)} {painted(finding.rule, '1')} {one_line(finding.message)}"
    rows = [("at", " · ".join(place)), ("fix", finding.mend), ("see", f"{finding.reference} ({finding.code})")]
    return "\n".join([head, *(f"  {painted(f'{name:<5}', '2')}{one_line(text)}" for name, text in rows if text)])


def _summary(verdict: Verdict) -> str:
    found = ", ".join(
        (counted(verdict.errors, "error"), counted(verdict.warnings, "warning"))
        if verdict.findings
        else ("no findings",)
    )
    seen = f"{counted(verdict.updates, 'plan update')} in {counted(verdict.sessions, 'session')}"
    unknown = "dialect not known" + (": --capability says which" if verdict.updates else "")
    spoken = f"dialect {verdict.dialect}" if verdict.dialect else unknown
    who = [*filter(None, [program_name(verdict.agent or "")])]
    return f"{found} · {' · '.join([seen, spoken, *who, *_driven(verdict)])}"


def count_of(findings: Sequence[Finding]) -> str:
    """How many errors and warnings there are."""
    errors = sum(finding.level == ERROR for finding in findings)
    text = f"{counted(errors, 'error')}, {counted(len(findings) - errors, 'warning')}" if findings else "no findings"
    return painted(text, "31;1" if errors else "33;1" if findings else "32;1")


def _driven(verdict: Verdict) -> list[str]:
    """What the client had the agent do, and where the agent sent no plan though there is one. A resumed session need
    not send it."""
    silent = {what for what, told in verdict.driven.items() if not told and verdict.updates} - {RESUME}
    words = [f"{what} (no plan)" if what in silent else what for what in verdict.driven]
    return [f"driven: {', '.join(words)}"] if words else []
