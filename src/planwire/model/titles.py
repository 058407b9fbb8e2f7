"""The title of a plan: its heading, or an id that reads like a name. One rule for every list and page.

Agents make up ids, and most of them mean nothing to a person: `main`, or a UUID. Such a plan goes by the name of its
file, or else it is "Plan", or "Plan 2" if the session has a "Plan" already.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from planwire.model import markdown
from planwire.model.kinds import address_of, kind_of, text_of
from planwire.model.plan import MAIN, Plan, PlanId
from planwire.model.text import shortened, unwrapped

UNNAMED: Final = "Plan"
#: Separates a step from the steps of the plans that work for it.
PATH: Final = " › "
#: The longest title, in characters. Agents write headings as long as paragraphs.
LONGEST: Final = 200
#: The longest session title made from a prompt.
LONGEST_OF_PROMPT: Final = 80
#: Ids that a machine made: a UUID, or a long number in base 16 or 32, after any prefix.
_MADE_UP: Final = re.compile(
    r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?:^|[^0-9a-z])(?=[a-f]*\d)[0-9a-f]{16,}$|(?:^|[_:-])[0-9a-hjkmnp-tv-z]{26}$",
    re.IGNORECASE,
)


def readable_id(plan_id: PlanId) -> str:
    """An id that a person can read and type; "" for one that a machine made up."""
    return "" if plan_id is None or _MADE_UP.search(plan_id) else plan_id


def plan_title(plan: Plan, text: str | None = None) -> str:
    """The title of a plan by itself. `text` is the text of a plan file that can be read."""
    own = text_of(plan) if kind_of(plan).is_text else ""
    return _title(plan.id, own if text is None else text, address_of(plan) or "")


@lru_cache(maxsize=256)
def _title(plan_id: PlanId, text: str, address: str) -> str:
    """The title of a plan. Cached, because each entry of a history names its plan among all plans of its session."""
    heading = markdown.parse(text).title if text else ""
    own = "" if plan_id == MAIN else readable_id(plan_id)
    file = address.rpartition("://")[2].rstrip("/").rpartition("/")[2]
    return shortened(unwrapped(heading) or unwrapped(own) or unwrapped(file) or UNNAMED, LONGEST)


def title_of_prompt(text: str) -> str:
    """The title of a session that has no better one: the first line of its first prompt."""
    return shortened(unwrapped(text.strip().partition("\n")[0]), LONGEST_OF_PROMPT)


def path_words(*steps: str) -> str:
    """The path from a step down to a step of a plan that works for it, in words."""
    return PATH.join(map(unwrapped, steps[:-1])) + PATH + steps[-1] if len(steps) > 1 else "".join(steps)


def plan_titles(plans: Iterable[Plan], texts: Mapping[PlanId, str] | None = None) -> dict[PlanId, str]:
    """The titles of a session's plans, in order of arrival; no two are the same. `texts` are the texts of its plan
    files."""
    texts = texts or {}
    return numbered({plan.id: plan_title(plan, texts.get(plan.id)) for plan in plans})


def plan_names(plans: Sequence[Plan]) -> dict[PlanId, str]:
    """The names of a session's plans where each needs an id: a plan without one goes by its title."""
    names: dict[PlanId, str] = {plan.id: plan.id for plan in plans if plan.id is not None}
    return numbered({**names, None: plan_titles(plans).get(None, UNNAMED)})


def numbered(names: Mapping[PlanId, str]) -> dict[PlanId, str]:
    """The names of plans, with a number after each name that is already taken."""
    titles: dict[PlanId, str] = {}
    taken: dict[str, int] = {}  # with the number that the last plan of that name got
    for plan_id, name in names.items():
        title, number = name, taken.get(name, 1)
        while title in taken:
            number += 1
            title = f"{name} {number}"
        titles[plan_id] = title
        taken[name] = number
        taken.setdefault(title, 1)
    return titles
