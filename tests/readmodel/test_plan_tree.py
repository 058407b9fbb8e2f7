"""Plans below plans: their order, the progress that rolls up, and what is folded."""

from planwire.model.events import COMMENT, Event, PlanChanged, PlanRemoved, PlanSet, Remarked, StepRef
from planwire.model.plan import Entry, ItemsPlan
from planwire.model.step_changes import SetStatus
from planwire.readmodel.as_json import session_json
from planwire.readmodel.card import PlanCard
from planwire.readmodel.plan_tree import PlanNode, forest
from planwire.readmodel.shown import ShownSession
from tests.readmodel.shown_plans import shown


def a_plan(plan_id: str, *contents: str, below: str = "") -> tuple[str, Event]:
    lead, _, step = below.partition("#")
    parent = StepRef(lead, step) if below else None
    return "agent", PlanSet(
        ItemsPlan(plan_id, tuple(Entry(each, "medium", "pending") for each in contents)), parent=parent
    )


def done(plan_id: str, *steps: str) -> tuple[str, Event]:
    return "agent", PlanChanged(plan_id, changes=tuple(SetStatus(each, "completed") for each in steps))


TREE = (
    a_plan("experts", "call Ann", "call Bob", below="research#s2"),
    a_plan("errands", "buy milk"),
    a_plan("main", "find", "write"),
    a_plan("survey", "count", below="main#s2"),
    a_plan("research", "read", "ask", below="main#s1"),
    done("experts", "s1"),
    done("research", "s1"),
)


def names(session: ShownSession) -> list[str | None]:
    return [card.id for card in session.cards()]


def card(session: ShownSession, plan_id: str) -> PlanCard:
    found = session.card(plan_id)
    assert found is not None
    return found


def drawn(nodes: tuple[PlanNode, ...]) -> list[object]:
    return [[node.card.id, *drawn(node.below)] for node in nodes]


def test_plans_stand_right_behind_the_plan_that_they_work_for_in_the_order_of_its_steps() -> None:
    session = shown(*TREE)
    assert names(session) == ["errands", "main", "research", "experts", "survey"]
    assert [each.level for each in session.cards()] == [0, 0, 1, 2, 1]
    assert drawn(forest(session.cards())) == [["errands"], ["main", ["research", ["experts"]], ["survey"]]]
    assert card(session, "experts").works_for == "find › ask"


def test_a_step_says_how_far_all_plans_below_it_are() -> None:
    find, write = card(shown(*TREE), "main").rows
    assert [tag.text for tag in find.tags] == ["2 of 4 below"]
    assert [(each.id, each.progress.done, each.progress.total) for each in find.children] == [("research", 1, 2)]
    assert [tag.text for tag in write.tags] == ["0 of 1 below"]


def test_the_progress_of_a_session_is_that_of_the_plans_at_the_top() -> None:
    glance = shown(*TREE, done("main", "s1")).glance
    assert (glance.done, glance.total) == (1, 3)
    alone = shown(*TREE, ("user", PlanRemoved("main")), ("user", PlanRemoved("errands"))).glance
    assert (alone.done, alone.total) == (1, 3), "nobody counts for them any more"


def test_a_plan_whose_step_or_lead_is_gone_or_that_is_in_a_circle_stands_at_the_top() -> None:
    without = shown(*TREE, ("user", PlanRemoved("main")))
    assert {each.id: each.level for each in without.cards()} == {"errands": 0, "survey": 0, "research": 0, "experts": 1}
    reworked = shown(*TREE, a_plan("main", "something else altogether"))
    assert {each.id for each in reworked.cards() if not each.level} == {"errands", "main", "survey", "research"}
    circle = shown(a_plan("a", "one", below="b#s1"), a_plan("b", "two", below="a#s1"))
    assert sorted(map(str, names(circle))) == ["a", "b"]
    assert drawn(forest(circle.cards())) == [["a", ["b"]]]


def test_a_plan_that_is_over_folds_unless_something_of_it_or_below_it_is_open() -> None:
    session = shown(*TREE, done("survey", "s1"), done("research", "s2"))
    assert [each.id for each in session.cards() if each.is_folded] == ["survey"]
    session = shown(*TREE, done("research", "s2"), done("experts", "s2"), done("survey", "s1"))
    assert [each.id for each in session.cards() if each.is_folded] == ["research", "experts", "survey"]
    said = shown(*TREE, done("survey", "s1"), ("ann", Remarked("survey", COMMENT, "count again", 8)))
    assert not card(said, "survey").is_folded
    assert not card(shown(*TREE, done("errands", "s1")), "errands").is_folded, "it works for no step"


def test_the_plan_that_is_meant_where_nobody_names_one_is_at_the_top() -> None:
    meant = shown(*(each for each in TREE if each is not TREE[1])).main_card()
    assert meant is not None
    assert meant.id == "main"
    other = shown(a_plan("lead", "find"), a_plan("research", "read", below="lead#s1")).main_card()
    assert other is not None
    assert other.id == "lead"


def test_plans_that_did_not_change_are_the_same_cards_in_the_tree() -> None:
    session = shown(*TREE)
    assert all(before is after for before, after in zip(session.cards(), session.cards(), strict=True))


def test_json_has_the_parent_of_a_plan_and_the_children_of_a_step() -> None:
    value = session_json(shown(*TREE))
    plans = {plan.id: plan for plan in value.plans or ()}
    assert plans["main"].parent is None
    experts = plans["experts"].parent
    assert experts is not None
    assert (experts.plan_id, experts.step, experts.path) == ("research", "s2", ("find", "ask"))
    find, _ = plans["main"].steps
    assert [(each.plan_id, each.progress.done) for each in find.children] == [("research", 1)]
    assert find.below is not None
    assert (find.below.done, find.below.total) == (2, 4)
