"""Plans that work for a step, in the one list of a v1 client: behind that step, with their path, until all is done."""

from planwire.acp.lower import Fallback, ListPlace
from planwire.model.events import StepRef
from planwire.model.plan import Entry, Fields, FilePlan, ItemsPlan, MarkdownPlan, PlanId
from planwire.model.titles import PATH


def a_plan(plan_id: PlanId, **statuses: str) -> ItemsPlan:
    words = (text.replace("_", " ") for text in statuses)
    pairs = zip(words, statuses.values(), strict=True)
    return ItemsPlan(plan_id, tuple(Entry(text, "medium", status) for text, status in pairs))


def place(count: int, parent: str = "") -> ListPlace:
    plan_id, _, step = parent.partition("#")
    return ListPlace(tuple(f"s{number}" for number in range(1, count + 1)), StepRef(plan_id, step) if parent else None)


def listed(updates: list[Fields]) -> list[str]:
    [update] = updates
    return [each.content for each in update["entries"]]


LEAD = a_plan("main", find="in_progress", write="pending")


def a_tree() -> Fallback:
    fallback = Fallback()
    fallback.put(LEAD, place(2))
    fallback.put(a_plan("research", read="completed", ask="in_progress"), place(2, "main#s1"))
    return fallback


def test_the_steps_of_a_child_stand_behind_the_step_that_it_works_for_with_their_path() -> None:
    assert PATH == " › "
    assert [each.content for each in a_tree().entries()] == ["find", "find › read", "find › ask", "write"]
    assert [each.status for each in a_tree().entries()] == ["in_progress", "completed", "in_progress", "pending"]


def test_deeper_levels_have_the_full_path() -> None:
    fallback = a_tree()
    deep = fallback.put(a_plan("experts", call_Ann="cancelled", call_Bob="pending"), place(2, "research#s2"))
    path = "find › ask › "
    assert listed(deep) == [
        "find",
        "find › read",
        "find › ask",
        f"{path}[cancelled] call Ann",
        f"{path}call Bob",
        "write",
    ]


def test_a_child_that_is_done_folds_away_and_what_is_open_below_it_stays() -> None:
    fallback = a_tree()
    fallback.put(a_plan("experts", call_Ann="pending"), place(1, "research#s2"))
    done = fallback.put(a_plan("research", read="completed", ask="completed"), place(2, "main#s1"))
    assert listed(done) == ["find", "find › ask › call Ann", "write"]
    done = fallback.put(a_plan("experts", call_Ann="completed"), place(1, "research#s2"))
    assert listed(done) == ["find", "write"]


def test_a_child_that_is_removed_takes_its_entries_along_and_one_whose_lead_goes_stands_alone() -> None:
    fallback = a_tree()
    assert listed(fallback.remove("research")) == ["find", "write"]
    assert listed(a_tree().remove("main")) == ["read", "ask"]


def test_a_child_of_a_step_that_is_gone_is_a_plan_of_its_own() -> None:
    fallback = a_tree()
    moved = fallback.put(a_plan("main", write="pending"), ListPlace(("s2",)))
    assert listed(moved) == ["Plan: write", "research: read", "research: ask"]


def test_beside_another_plan_each_entry_has_the_title_of_the_plan_at_the_top() -> None:
    fallback = a_tree()
    both = fallback.put(a_plan("errands", buy_milk="pending"), place(1))
    expected = ["Plan: find", "Plan: find › read", "Plan: find › ask", "Plan: write", "errands: buy milk"]
    assert listed(both) == expected


def test_plans_that_work_for_each_other_are_not_lost() -> None:
    fallback = Fallback()
    fallback.put(a_plan("a", one="pending"), place(1, "b#s1"))
    fallback.put(a_plan("b", two="pending"), place(1, "a#s1"))
    assert sorted(each.content for each in fallback.entries()) == ["a: one", "b: two"]


def test_a_plan_file_that_is_read_again_tells_only_what_changed() -> None:
    texts: dict[str, str | None] = {"file:///p.md": "- [ ] a\n- [ ] b\n"}
    fallback = Fallback(texts.get)
    fallback.put(FilePlan("f", "file:///p.md"))
    assert fallback.look_again() == []
    texts["file:///p.md"] = "- [x] a\n- [ ] b\n"
    [update] = fallback.look_again()
    assert [each.status for each in update["entries"]] == ["completed", "pending"]
    assert fallback.look_again() == []
    texts["file:///p.md"] = None  # an editor is writing it
    assert fallback.look_again() == []
    assert [each.status for each in fallback.entries()] == ["completed", "pending"]
    assert [each["sessionUpdate"] for each in fallback.remove("f")] == ["plan"]
    assert fallback.look_again() == []


def test_a_numbered_list_stays_in_its_text_and_is_no_entry() -> None:
    fallback = Fallback()
    updates = fallback.put(MarkdownPlan("plan-mode", "# Plan\n\n1. Read the config\n2. Write the *parser*\n"))
    assert [each["sessionUpdate"] for each in updates] == ["agent_message_chunk"]
    assert fallback.entries() == []
