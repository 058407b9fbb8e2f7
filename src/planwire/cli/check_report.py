"""A verdict on an agent's plans, as `planwire check` prints it: for people, and as JSON."""

from collections.abc import Callable
from typing import TypeAlias

import msgspec

from planwire.check import ERROR, Finding, Verdict
from planwire.readmodel.plain_text import escaped_json, one_line

__all__ = ["Paint", "colour", "plain", "verdict_json", "verdict_text"]

#: Gives a text a style of the terminal, or leaves it as it is.
Paint: TypeAlias = Callable[[str, str], str]


def colour(text: str, style: str) -> str:
    """The text in a style, for terminals."""
    return f"\x1b[{style}m{text}\x1b[0m"


def plain(text: str, style: str) -> str:
    """The text alone, for files and pipes."""
    return text


def verdict_json(verdict: Verdict, *, strict: bool) -> str:
    """The verdict for programs."""
    value = {
        "passes": verdict.passes(strict=strict),
        "errors": verdict.errors,
        "warnings": verdict.warnings,
        **msgspec.structs.asdict(verdict),
    }
    return escaped_json(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def verdict_text(verdict: Verdict, paint: Paint) -> str:
    """The verdict for people: a block a finding, and a last line that counts them."""
    blocks = [_block(finding, paint) for finding in verdict.findings]
    return "\n\n".join([*blocks, _summary(verdict, paint)])


def _block(finding: Finding, paint: Paint) -> str:
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
    head = f"{paint(finding.level, style)} {paint(finding.rule, '1')} {one_line(finding.message)}"
    rows = [("at", " · ".join(place)), ("mend", finding.mend), ("see", f"{finding.reference} ({finding.code})")]
    return "\n".join([head, *(f"  {paint(f'{name:<5}', '2')}{one_line(text)}" for name, text in rows if text)])


def _summary(verdict: Verdict, paint: Paint) -> str:
    found = ", ".join(
        (_count(verdict.errors, "error"), _count(verdict.warnings, "warning")) if verdict.findings else ("no findings",)
    )
    seen = f"{_count(verdict.updates, 'plan update')} in {_count(verdict.sessions, 'session')}"
    unknown = "dialect not known" + (": --capability says which" if verdict.updates else "")
    spoken = f"dialect {verdict.dialect}" if verdict.dialect else unknown
    who = [one_line(verdict.agent)] if verdict.agent else []
    colour = "31;1" if verdict.errors else "33;1" if verdict.warnings else "32;1"
    return f"{paint(found, colour)} · {' · '.join([seen, spoken, *who])}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
