"""docs/torture.md: the results of the last full run of the proofs."""

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from tests.torture.ledger import Outcome

__all__ = ["Proof", "write_report"]

REPORT = Path(__file__).parents[2] / "docs" / "torture.md"
HEAD = """\
# What journals went through

`make torture` kills writers and servers, cuts connections and fills disks, and then compares what each writer was told
with what the journal holds. It writes this page. *Lost*: acknowledged but missing. *Doubled*: there twice. *Out of
order*: a writer's events in another order than it wrote them. *Unlinked*: an event that does not fit the chain of
hashes. Every writer repeats an append whose answer it did not get, under the same key.

| proof | engine | tries | acknowledged | lost | doubled | out of order | unlinked |
|---|---|--:|--:|--:|--:|--:|--:|
"""
FOOT = """
The servers run on the same machine as the writers, so these figures say nothing about networks between machines. Nor
is a killed process a power cut: the system keeps what it had in memory.
"""


class Proof(Struct, frozen=True, order=True):
    """A line of the report."""

    what: str
    engine: str
    tries: str
    outcome: Outcome


def write_report(proofs: Iterable[Proof]) -> None:
    rows = sorted(proofs, key=lambda each: (each.what, each.engine))
    REPORT.write_text(HEAD + "".join(map(_row, rows)) + FOOT)


def _row(proof: Proof) -> str:
    found = proof.outcome
    numbers = (found.acknowledged, found.lost, found.doubled, found.disordered, found.unlinked)
    return f"| {proof.what} | {proof.engine} | {proof.tries} | {' | '.join(f'{each:,}' for each in numbers)} |\n"
