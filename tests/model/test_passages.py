"""Where a passage stands in a text that changes: the place that a person pointed at, or none."""

from time import thread_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.errors import PlanError
from planwire.model.events import Passage
from planwire.model.passages import AROUND, anchored, occurrences, passage_at, passage_named, reading, reading_of
from planwire.model.plan import Entry, FilePlan, ItemsPlan, MarkdownPlan
from tests.strategies import markdown_texts

STAGES = "\n\n".join(f"## Stage {number}\n\nRun the embedding job again." for number in range(1, 11))
TEXT = """\
# Move

We **move** `cache` to [Redis](https://redis.io "in memory").

| step | what |
|---|---|
| 1 | embedding job |

- [ ] Drain the *old* one
  - and then:

    ```sh
    rm -rf  ./build
    ```
"""

words = st.lists(st.sampled_from(("a", "b", "job", "run", "the", "cache")), min_size=1, max_size=60).map(" ".join)


def stands(text: str, passage: Passage) -> str | None:
    """What stands at the place of a passage, with a little around it."""
    place = anchored(text, passage)
    return text[max(place[0] - 12, 0) : place[1]] if place else None


def test_a_text_reads_without_its_markup() -> None:
    assert reading(TEXT) == (
        "Move We move cache to Redis. step what 1 embedding job Drain the old one and then: rm -rf ./build"
    )


@pytest.mark.parametrize("number", range(1, 11))
def test_a_passage_that_occurs_ten_times_stays_the_one_that_was_meant(number: int) -> None:
    text = reading(STAGES)
    start = occurrences(text, "embedding job")[number - 1]
    passage = passage_at(text, start, start + len("embedding job"))
    assert passage.occurrence == number
    assert anchored(text, passage) == (start, start + 13)
    later = reading("## Stage 0\n\nRun the embedding job again.\n\n" + STAGES.replace("again", "once more"))
    found = anchored(later, passage)
    assert found is not None
    assert later[: found[0]].rpartition("Stage ")[2].split()[0] == str(number)


def test_equal_surroundings_leave_it_to_the_number() -> None:
    text = reading("\n\n".join(["Run the embedding job again."] * 40))
    for number in (10, 20, 30):
        start = occurrences(text, "embedding job")[number - 1]
        assert anchored(text, passage_at(text, start, start + 13)) == (start, start + 13)


@given(words, words, words, words, st.data())
def test_what_is_written_elsewhere_leaves_a_passage_in_its_place(
    before: str, about: str, after: str, new: str, data: st.DataObject
) -> None:
    marked = f"«{about}»"  # one of its kind
    text = f"{before} {marked} {after}"
    start = text.index(marked)
    passage = passage_at(text, start, start + len(marked))
    at = data.draw(st.integers(0, len(before)) | st.integers(start + len(marked), len(text)))
    changed = text[:at] + new + text[at:]
    place = anchored(changed, passage)
    assert place is not None
    assert changed[slice(*place)] == marked
    end = data.draw(st.integers(0, len(before)))
    changed = text[end:] if end < start else text
    place = anchored(changed, passage)
    assert place is not None
    assert changed[slice(*place)] == marked


@given(words, st.data())
def test_a_passage_of_a_text_that_did_not_change_is_where_it_was(text: str, data: st.DataObject) -> None:
    around = f"{'x ' * AROUND}{text}{' y' * AROUND}"
    start = data.draw(st.integers(2 * AROUND, 2 * AROUND + len(text) - 1))
    end = data.draw(st.integers(start + 1, 2 * AROUND + len(text)))
    if around[start:end].strip() != around[start:end]:
        return
    assert anchored(around, passage_at(around, start, end)) == (start, end)


@given(markdown_texts())
def test_every_word_that_people_read_can_be_pointed_at(text: str) -> None:
    read = reading(text)
    for start in occurrences(read, read[:5].strip())[:3]:
        passage = passage_at(read, start, start + len(read[:5].strip()))
        assert anchored(read, passage) == (start, start + len(passage.text))


def test_a_passage_that_is_gone_is_not_another_one_with_the_same_words() -> None:
    text = reading("Keys expire after 14 days in the cache.\n\nThe trial of a new customer is 14 days long.")
    start = text.index("14 days")
    passage = passage_at(text, start, start + 7)
    assert stands(text, passage) == "xpire after 14 days"
    assert anchored(reading("The trial of a new customer is 14 days long."), passage) is None
    assert anchored(reading("Keys never expire."), passage) is None


@pytest.mark.parametrize("number", range(1, 11))
def test_a_passage_that_is_gone_is_none_of_the_nine_others_with_its_words(number: int) -> None:
    stages = [f"## {name}\n\nRun the embedding job again, {name}." for name in "abcdefghij"]
    text = reading("\n\n".join(stages))
    start = occurrences(text, "Run the embedding job again")[number - 1]
    passage = passage_at(text, start, start + len("Run the embedding job again"))
    stages[number - 1] = "## Nothing\n\nThere is nothing to do here."
    assert anchored(reading("\n\n".join(stages)), passage) is None


def test_other_spaces_are_the_same_text_and_missing_ones_are_not() -> None:
    start = reading(TEXT).index("rm -rf")
    passage = passage_at(reading(TEXT), start, start + len("rm -rf ./build"))
    assert stands(reading(TEXT.replace("rm -rf  ./", "rm  -rf ./")), passage)
    assert anchored(reading(TEXT.replace("rm -rf  ./build", "rm -rf . /build")), passage) is None


def test_a_quote_names_its_occurrence_or_is_the_only_one() -> None:
    plan = MarkdownPlan("main", STAGES)
    assert passage_named(plan, Passage("Stage 10", occurrence=0)).occurrence == 1
    assert passage_named(plan, Passage("embedding  job", occurrence=3)).before.endswith("Stage 3 Run the ")
    with pytest.raises(PlanError, match="10 times: say which one, 1 to 10"):
        passage_named(plan, Passage("embedding job", occurrence=0))
    with pytest.raises(PlanError, match="only 10 times"):
        passage_named(plan, Passage("embedding job", occurrence=11))
    with pytest.raises(PlanError, match="has no “\\*\\*job\\*\\*”: quote words as they read there"):
        passage_named(plan, Passage("**job**", occurrence=0))


def test_lists_have_passages_and_files_are_not_judged() -> None:
    steps = ItemsPlan("main", (Entry("Run it", None, "pending"), Entry("Test it", None, "pending")))
    assert passage_named(steps, Passage("it", occurrence=2)).before == "Run it Test "
    assert reading_of(FilePlan("main", "file:///plan.md")) is None


def test_a_table_has_the_cells_beyond_its_heads_and_no_others() -> None:
    table = "| a | b |\n  |---|---|\n  | c | d | e |\n"
    assert reading(f"- {table}") == reading(f"> {table.replace('  |', '> |')}") == "a b c d e"


def test_hostile_texts_cost_no_seconds() -> None:
    text = reading("a" * 99_000)
    start = thread_time()
    anchored(text, Passage("a", "a" * AROUND, "a" * AROUND, 40_000))
    assert thread_time() - start < 5
