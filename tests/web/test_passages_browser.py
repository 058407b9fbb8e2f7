"""Passages of a plan's text in a real browser: a mark stands where a person put it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Page, expect

from planwire.model.events import ACP, COMMENT, Passage, PlanSet, Remarked
from planwire.model.passages import anchored, reading
from planwire.model.plan import MarkdownPlan
from tests.web.browsing import comes_true, is_live
from tests.web.stage import Stage, save, write
from tests.web.test_reviews_browser import painted

STAGE = """\
## Stage {number}

We run the embedding job again, with **all** `rows`.

| step | does |
|---|---|
| one | embedding job |

- embedding job
- other
  ```sh
  start "embedding job"
  ```
"""
STAGES = "# Stages\n\n" + "\n".join(STAGE.format(number=number) for number in range(1, 5))


def select(page: Page, words: str, number: int) -> None:
    """Select the words where they occur for the n-th time."""
    page.evaluate(
        """([words, number]) => {
            const walker = document.createTreeWalker(document.querySelector(".prose"), NodeFilter.SHOW_TEXT);
            for (let left = number; walker.nextNode();) {
                const at = walker.currentNode.data.indexOf(words);
                if (at < 0 || --left > 0) continue;
                const range = document.createRange();
                range.setStart(walker.currentNode, at);
                range.setEnd(walker.currentNode, at + words.length);
                getSelection().removeAllRanges();
                return getSelection().addRange(range);
            }
        }""",
        [words, number],
    )
    page.get_by_role("button", name="Comment", exact=True).click()


def marked_in(page: Page, name: str) -> list[str]:
    """For each marked passage, its heading and the kind of its block."""
    return list(
        page.evaluate(
            """(name) => [...(CSS.highlights.get(name) ?? [])].map((range) => {
                const node = range.startContainer.parentElement;
                const block = node.closest("td, pre, li, p");
                let top = node;
                while (!top.parentElement.matches(".prose")) top = top.parentElement;
                while (top && !top.matches("h2")) top = top.previousElementSibling;
                return `${top?.textContent} ${block.tagName.toLowerCase()} ${range}`;
            })""",
            name,
        )
    )


@pytest.mark.parametrize(
    ("number", "stage_number", "block"), [(4, 1, "pre"), (5, 2, "p"), (10, 3, "td"), (15, 4, "li")]
)
def test_a_comment_stands_where_its_words_were_selected_though_they_occur_sixteen_times(
    stage: Stage, number: int, stage_number: int, block: str
) -> None:
    stage.write(PlanSet(MarkdownPlan("text", STAGES), via=ACP))
    page = stage.reopen()
    place = f"Stage {stage_number} {block} embedding job"
    select(page, "embedding job", number)
    write(page, "Why again?")
    save(page)
    assert marked_in(page, "draft") == [place]
    draft = page.locator(".draft")
    at = (
        "(e) => { let b = e.previousElementSibling ?? e.parentElement; return b.textContent.includes('embedding job') }"
    )
    assert draft.evaluate(at), "the comment stands at the block that it is about"
    page.get_by_role("button", name="Comment only").click()
    expect(page.locator("#p0-said")).to_contain_text("Why again?")
    comes_true(page, "CSS.highlights.get('remark')?.size === 1")
    assert marked_in(page, "remark") == [place]
    [said] = [each for each in stage.said() if isinstance(each, Remarked)]
    assert said.passage is not None
    place_in_core = anchored(reading(STAGES), said.passage)
    assert place_in_core is not None
    assert reading(STAGES)[: place_in_core[0]].rpartition("Stage ")[2][0] == str(stage_number)

    changed = STAGES.replace("# Stages\n", "# Stages\n\n" + STAGE.format(number=0)).replace("with **all**", "for all")
    stage.write(PlanSet(MarkdownPlan("text", changed), via=ACP))
    expect(page.get_by_text("Stage 0")).to_be_visible()
    comes_true(page, "CSS.highlights.get('remark')?.size === 1")
    assert marked_in(page, "remark") == [place]


def test_a_passage_that_is_gone_is_quoted_in_words_and_marked_nowhere(stage: Stage) -> None:
    offer = "An offer ends in 14 days."
    stage.write(PlanSet(MarkdownPlan("text", f"# Keys\n\nKeys expire after 14 days.\n\n{offer}"), via=ACP))
    passage = Passage("14 days", "Keys expire after ", f". {offer}")
    stage.write(Remarked("text", COMMENT, "Why 14?", 1, passage=passage), by="user")
    page = stage.reopen()
    comes_true(page, "CSS.highlights.get('remark')?.size === 1")
    stage.write(PlanSet(MarkdownPlan("text", f"# Keys\n\nThey stay for ever.\n\n{offer}"), via=ACP))
    expect(page.locator("#p0-said")).to_contain_text("about a passage that is gone")
    expect(page.locator("#p0-said .quoted")).to_have_text("14 days")
    assert painted(page, "remark") == ""


def test_a_selection_across_blocks_of_a_right_to_left_text_is_found_again(stage: Stage) -> None:
    stage.write(PlanSet(MarkdownPlan("text", "# ת\n\nשלום **עולם**, וגם `קוד`.\n\nעוד שורה כאן 🙂🙂 בסוף."), via=ACP))
    page = stage.reopen()
    page.evaluate("""() => {
        const [first, last] = document.querySelectorAll(".prose p"), range = document.createRange();
        range.setStart(first.querySelector("strong").firstChild, 1);
        range.setEnd(last.firstChild, 14);
        getSelection().addRange(range);
    }""")
    page.get_by_role("button", name="Comment", exact=True).click()
    write(page, "?")
    save(page)
    drawn = painted(page, "draft")
    page.reload()
    is_live(page)
    assert painted(page, "draft") == drawn
    page.get_by_role("button", name="Comment only").click()
    comes_true(page, "CSS.highlights.get('remark')?.size === 1")
    assert painted(page, "remark") == drawn


pieces = st.lists(st.sampled_from(("a", "b", "ab", "run", ". ", "🙂", "é")), max_size=30).map(" ".join)


def test_the_page_and_the_core_have_the_same_rule(stage: Stage) -> None:
    stage.write(PlanSet(MarkdownPlan("text", "# A\n\nb"), via=ACP))
    page = stage.reopen()
    cases: list[tuple[str, dict[str, Any]]] = []

    @given(pieces, st.text("ab run", min_size=1, max_size=6), pieces, pieces, st.integers(1, 4))
    def collect(text: str, about: str, before: str, after: str, number: int) -> None:
        given = {"text": about, "before": before[-64:], "after": after[:64], "occurrence": number}
        cases.append((reading(text), given))

    collect()
    found = page.evaluate(
        """async (cases) => {
            const scripts = performance.getEntriesByType("resource").map(({ name }) => name);
            const { anchored } = await import(scripts.find((name) => name.includes("passages")));
            const upTo = (text, place) => place && text.slice(0, place[0]);
            return cases.map(([text, passage]) => upTo(text, anchored(text, passage)));
        }""",
        json.loads(json.dumps(cases)),
    )
    places = [anchored(text, Passage(**passage)) for text, passage in cases]
    assert found == [place and text[: place[0]] for place, (text, _) in zip(places, cases, strict=True)]
