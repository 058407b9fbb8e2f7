"""Words about what was seen: whether the steps that a remark is about still read as its author saw them.

A person's word is about the words that they saw, not about an id. An agent can put other words under the same id, by a
new list or by rewording a step, and an order to run "Delete the staging database" must not become an order to run
"Delete the production database". So a remark keeps the words (`about`), and whoever tells or shows it compares them.

Words are the same up to what is no part of a text: how its characters are composed, how long runs of white space are,
enumerators, checkboxes and signs of status. Nothing looser: `rm -rf ./build` is not `rm -rf / build`.
"""

import re
import unicodedata
from typing import Final

from msgspec import Struct

from planwire.model.records import PlanRecord, Remark
from planwire.model.wording import texts_of

#: What agents put before a step, or behind it, to say where it stands.
_SIGNS: Final = "✓✔✅☑☐☒✗✘❌⬜⏳🔄▶►◉○●⏸⏹🚧"
_BEFORE: Final = re.compile(
    rf"(?:\[[ xX~*/!>-]?\]\s*|[{_SIGNS}]\ufe0f?\s*|(?:\d{{1,3}}(?:\.\d{{1,3}}){{0,2}}[.)]|\d{{1,3}}:)\s+"
    r"|step\s+\d{1,3}(?:/\d{1,3})?\s*[:.)-]\s+)+",
    re.IGNORECASE,
)
_BEHIND: Final = re.compile(rf"(?:\s*[{_SIGNS}]\ufe0f?)+$")


class ChangedWords(Struct, frozen=True):
    """A step that reads differently from what the author of a remark saw. `now` is None if it left the plan."""

    step: str
    was: str
    now: str | None


def same_words(one: str, other: str) -> bool:
    """Whether two texts of a step are the same words."""
    return one == other or plain_words(one) == plain_words(other)


def changed_since(remark: Remark, record: PlanRecord) -> tuple[ChangedWords, ...]:
    """The steps that a remark is about and that read differently now, or are gone unfinished. A list that was cleared
    for a moment reads as it did before."""
    if not remark.about:
        return ()
    texts = texts_of(record.cleared or record.state)
    left = (ChangedWords(step, was, texts.get(step)) for step, was in remark.about.items() if step not in remark.done)
    return tuple(each for each in left if each.now is None or not same_words(each.was, each.now))


def plain_words(text: str) -> str:
    """A text without what is no part of its words."""
    plain = " ".join(unicodedata.normalize("NFC", text).split())
    before = _BEFORE.match(plain)
    return _BEHIND.sub("", plain[before.end() :] if before else plain) or plain
