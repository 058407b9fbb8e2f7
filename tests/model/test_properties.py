"""What holds for every plan, whatever is in it and whatever becomes of it."""

from collections.abc import Callable
from random import Random

from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from msgspec.structs import replace

from planwire.model import diff, markdown
from planwire.model.changes import mark
from planwire.model.identity import track
from planwire.model.likeness import read
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan, Plan
from planwire.model.statuses import PENDING, STATUSES
from planwire.model.steps import PlanState, Step
from tests import strategies as some
from tests.model.diffs import apply, between

# Differences


#: Plans that have much in common, of one id.
related_plans = st.lists(
    some.plans(st.just("p"), some.entries(st.none() | some.priorities)) | some.markdown_plans(st.just("p")),
    min_size=2,
    max_size=5,
)


@given(related_plans, st.data())
def test_a_difference_makes_the_one_plan_from_the_other(plans: list[Plan], data: st.DataObject) -> None:
    before, after = data.draw(st.sampled_from(plans)), data.draw(st.sampled_from(plans))
    difference = between(before, after)
    assert apply(difference, before) == after
    assert bool(difference) == (before != after)


@given(related_plans, st.data())
def test_any_two_states_of_a_plan_differ_by_what_leads_from_one_to_the_other(
    plans: list[Plan], data: st.DataObject
) -> None:
    states = history(plans)
    before, after = data.draw(st.sampled_from(states)), data.draw(st.sampled_from(states))
    difference = diff.compare(before, after)
    assert apply(difference, before.plan) == after.plan
    assert len(before.steps) + len(difference.added) - len(difference.removed) == len(after.steps)
    assert {added.step for added in difference.added} <= set(after.steps)
    assert {removed.step for removed in difference.removed} <= set(before.steps)


def history(plans: list[Plan]) -> list[PlanState]:
    states: list[PlanState] = []
    for plan in plans:
        states.append(track(plan, states[-1] if states else None))
    return states


# Ids of steps


def without_ids(steps: tuple[Step, ...]) -> list[Step]:
    return [replace(step, id="") for step in steps]


@given(related_plans)
def test_what_a_step_says_depends_on_its_plan_and_not_on_the_past(plans: list[Plan]) -> None:
    for state in history(plans):
        assert without_ids(state.steps) == without_ids(track(state.plan).steps)


@given(some.markdown_plans(st.just("p")))
@example(MarkdownPlan("p", "- [ ] a\n  - [ ] b\n"))
def test_a_checklist_that_becomes_a_list_of_entries_keeps_its_ids_and_nothing_else(plan: MarkdownPlan) -> None:
    before = track(plan)
    entries = ItemsPlan("p", tuple(Entry(step.content, None, step.status) for step in before.steps))
    after = track(entries, before)
    assert [step.id for step in after.steps] == [step.id for step in before.steps]
    assert without_ids(after.steps) == without_ids(track(entries).steps)


@given(related_plans)
def test_no_two_steps_share_an_id_and_new_steps_get_new_ones(plans: list[Plan]) -> None:
    used: set[str] = set()
    for state in history(plans):
        ids = [step.id for step in state.steps]
        assert len(ids) == len(set(ids))
        newest = max((int(step_id[1:]) for step_id in used), default=0)
        assert all(step_id in used or int(step_id[1:]) > newest for step_id in ids)
        used |= set(ids)


class Task:
    """A step as its agent knows it: the same one, whatever it is called."""

    def __init__(self, text: str, status: str = PENDING) -> None:
        self.text = self.plain = text
        self.status = status


def as_items(tasks: list[Task]) -> Plan:
    return ItemsPlan("p", tuple(Entry(task.text, "medium", task.status) for task in tasks))


def as_markdown(tasks: list[Task]) -> Plan:
    boxes = dict(zip(STATUSES, " ~x-", strict=True))
    return MarkdownPlan("p", "".join(f"- [{boxes[task.status]}] {task.text}\n" for task in tasks))


SAYINGS = (as_items, as_markdown)
#: Ways to write one text.
FORMS = ("{}", "1. {}", "Step 3/4: {}", "[done] {}", "{} (3/10)", "✅ {}!", "WIP: {}")


def words(text: str) -> tuple[str, ...]:
    return read(text).words


class Work(RuleBasedStateMachine):
    """An agent works on a list, one change at a time. No step gets another's id, and only one in other words a new
    id (R5).

    Wordings are never the same as any that was there before: what becomes of twins is told by other tests.
    """

    @initialize(texts=st.lists(some.phrases, min_size=1, max_size=6, unique_by=words), say=st.sampled_from(SAYINGS))
    def begin(self, texts: list[str], say: Callable[[list[Task]], Plan]) -> None:
        self.say = say
        self.tasks = [Task(text) for text in texts]
        self.gone: list[Task] = []
        self.words = {words(text) for text in texts}
        self.ids: dict[Task, str] = {}
        self.reworded: Task | None = None
        self.state: PlanState | None = None

    @rule(seed=st.integers(0, 1000))
    def reorder(self, seed: int) -> None:
        Random(seed).shuffle(self.tasks)

    @rule(text=some.phrases, status=st.sampled_from([*STATUSES]), at=st.integers(0, 6))
    def insert(self, text: str, status: str, at: int) -> None:
        if words(text) not in self.words:
            self.words.add(words(text))
            self.tasks.insert(at, Task(text, status))

    @rule(at=st.integers(0, 6))
    def remove(self, at: int) -> None:
        if len(self.tasks) > 1:
            self.gone.append(self.tasks.pop(at % len(self.tasks)))

    @rule(at=st.integers(0, 6))
    def bring_back(self, at: int) -> None:
        if self.gone:
            self.tasks.insert(at, self.gone.pop())

    @rule(at=st.integers(0, 6), form=st.sampled_from(FORMS), status=st.sampled_from([*STATUSES]))
    def write_otherwise(self, at: int, form: str, status: str) -> None:
        """Number it, tag it, say how far it is: it stays what it is."""
        task = self.tasks[at % len(self.tasks)]
        task.text, task.status = form.format(task.plain), status

    @rule(at=st.integers(0, 6), word=st.integers(0, 5), instead=some.phrases, status=st.sampled_from([*STATUSES]))
    def reword(self, at: int, word: int, instead: str, status: str) -> None:
        task = self.tasks[at % len(self.tasks)]
        parts = task.plain.split()
        text = " ".join((*parts[:word], instead, *parts[word + 1 :]))
        if words(text) not in self.words:
            self.words.add(words(text))
            task.text, task.plain, task.status = text, text, status
            self.reworded = task

    @rule(at=st.integers(0, 6), status=st.sampled_from([*STATUSES]))
    def set_status(self, at: int, status: str) -> None:
        self.tasks[at % len(self.tasks)].status = status

    @rule()
    def send_an_empty_list(self) -> None:
        self.state = track(self.say([]), self.state)
        assert self.state.steps == ()

    @invariant()
    def every_step_has_the_id_that_it_was_given(self) -> None:
        self.state = track(self.say(self.tasks), self.state)
        for task, step in zip(self.tasks, self.state.steps, strict=True):
            assert step.content == task.text
            if task is self.reworded and step.id not in self.ids.values():
                self.ids[task] = step.id
            assert self.ids.setdefault(task, step.id) == step.id
        self.reworded = None
        assert len(set(self.ids.values())) == len(self.ids)


def test_a_step_keeps_its_id_whatever_is_done_to_the_list() -> None:
    run_state_machine_as_test(Work, settings=settings(stateful_step_count=25))


@given(st.lists(some.phrases, min_size=1, max_size=6), st.data())
def test_steps_that_are_called_otherwise_while_they_are_worked_on_keep_their_ids(
    names: list[str], data: st.DataObject
) -> None:
    """As Claude does it: "Run the tests" is "Running the tests" while it runs."""
    names = [f"{name} {at}" for at, name in enumerate(names)]
    progress = [0] * len(names)
    state: PlanState | None = None
    for _ in range(data.draw(st.integers(1, 5))):
        said = [f"Working on {name}" if done == 1 else name for name, done in zip(names, progress, strict=True)]
        entries = [Entry(text, "medium", [*STATUSES][done]) for text, done in zip(said, progress, strict=True)]
        state = track(ItemsPlan("p", tuple(entries)), state)
        assert [step.id for step in state.steps] == [f"s{at + 1}" for at in range(len(names))]
        progress = [min(done + data.draw(st.integers(0, 1)), 2) for done in progress]


#: Lists in which the same text often stands twice.
lists_with_twins = st.lists(
    st.builds(Entry, st.sampled_from(("run the tests", "write docs")), st.just("low"), some.statuses), max_size=5
)


def ids_after(before: list[Entry], after: list[Entry]) -> tuple[set[str], set[str]]:
    earlier = track(ItemsPlan("p", tuple(before)))
    later = track(ItemsPlan("p", tuple(after)), earlier)
    return {step.id for step in earlier.steps}, {step.id for step in later.steps}


@given(lists_with_twins, st.data())
def test_reordering_twins_makes_no_new_step(entries: list[Entry], data: st.DataObject) -> None:
    before, after = ids_after(entries, data.draw(st.permutations(entries)))
    assert before == after


@given(lists_with_twins, some.statuses, st.data())
def test_adding_or_removing_a_twin_changes_no_other_id(entries: list[Entry], status: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(entries)))
    longer = [*entries[:at], Entry("run the tests", "low", status), *entries[at:]]
    before, after = ids_after(entries, longer)
    assert before < after
    assert len(after - before) == 1
    before, after = ids_after(longer, entries)
    assert after < before


@given(lists_with_twins.filter(bool), some.statuses, st.data())
def test_rewording_a_twin_makes_no_new_step(entries: list[Entry], status: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(entries) - 1))
    reworded = Entry(entries[at].content.replace("run", "running").replace("write", "writing"), "low", status)
    before, after = ids_after(entries, [*entries[:at], reworded, *entries[at + 1 :]])
    assert before == after


# Markdown


@given(some.markdown_texts(), st.sampled_from([*STATUSES]), st.data())
def test_marking_a_step_changes_one_character_and_one_status(text: str, status: str, data: st.DataObject) -> None:
    before = track(MarkdownPlan("p", text))
    if not markdown.parse(text).tasks:
        return
    at = data.draw(st.integers(0, len(before.steps) - 1))
    plan = mark(before, before.steps[at].id, status)
    assert isinstance(plan, MarkdownPlan)
    changed = [place for place, (old, new) in enumerate(zip(text, plan.content, strict=True)) if old != new]
    assert len(changed) == (before.steps[at].status != status)
    expected = list(before.steps)
    expected[at] = replace(expected[at], status=status)
    assert list(track(plan, before).steps) == expected


@given(some.markdown_texts())
def test_unmarking_keeps_the_length_and_every_step_and_does_nothing_twice(text: str) -> None:
    unmarked = markdown.unmarked(text)
    assert len(unmarked) == len(text)
    assert markdown.unmarked(unmarked) == unmarked
    before, after = markdown.parse(text), markdown.parse(unmarked)
    assert [task.text for task in after.tasks] == [task.text for task in before.tasks]
    assert all(task.status == PENDING for task in after.tasks)


@given(some.markdown_texts())
def test_the_box_of_a_task_stands_where_its_offset_says(text: str) -> None:
    for task in markdown.parse(text).tasks:
        assert text[task.offset - 1] == "["
        assert text[task.offset + 1] == "]"
