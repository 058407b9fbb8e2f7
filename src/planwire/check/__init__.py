"""A judge of an agent's plan traffic: the lines of a connection in, findings out. No I/O.

checker = Checker()
checker.hear(line, "agent")
verdict = checker.close()
"""

from planwire.check.checker import Checker, Verdict
from planwire.check.findings import ERROR, WARNING, Finding, Rule
from planwire.check.table import RULES

__all__ = ["ERROR", "RULES", "WARNING", "Checker", "Finding", "Rule", "Verdict"]
