"""The size of a plan: one measure for every way into a session, so that the cap limits the state and not one call."""

from typing import Final, assert_never

import msgspec

from planwire.model.plan import PRIORITIES, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan, Plan
from planwire.model.statuses import STATUSES

_LONGEST_STATUS: Final = max(map(len, STATUSES))
_LONGEST_PRIORITY: Final = max(map(len, PRIORITIES))


def plan_bytes(plan: Plan) -> int:
    """The UTF-8 bytes of a plan's content: its text, or its entries as they are stored.

    Status and priority count as their longest words. So a plan that fits still fits when all of it is in progress:
    reporting progress never means removing something.
    """
    match plan:
        case ItemsPlan(entries=entries):
            spare = sum(
                max(0, _LONGEST_STATUS - len(each.status)) + max(0, _LONGEST_PRIORITY - len(each.priority or ""))
                for each in entries
            )
            return len(msgspec.json.encode(entries)) + spare
        case MarkdownPlan(content=text) | FilePlan(uri=text):
            return len(text.encode())
        case OtherPlan(fields=fields):
            return len(msgspec.json.encode(fields))
        case _:
            assert_never(plan)
