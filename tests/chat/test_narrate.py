"""What the model is told of events, and a plan with all that happened to it as one message."""

from planwire import Entry, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan
from planwire.chat import (
    EventMessage,
    Ordinary,
    PlanMessage,
    Said,
    Stored,
    block,
    merged_plan,
    message_for,
    read_message,
    said_in,
)
from planwire.chat.messages import write_message
from planwire.chat.narrate import merged_plans, remark_message
from planwire.model.decide import decided
from planwire.model.events import (
    ACP,
    APPROVED,
    DISMISSED,
    OFFERED,
    Choice,
    ContextCompacted,
    Event,
    Gap,
    MessageAdded,
    PlanChanged,
    PlanRemoved,
    PlanReopened,
    PlanReviewed,
    PlanSet,
    Recorded,
    RemarkClosed,
    Remarked,
    ReviewAsked,
    SessionOpened,
    Told,
    TurnEnded,
)
from planwire.model.names import made_name
from planwire.model.records import CONTEXT, TOOL, PlanRecord, SessionState
from planwire.model.step_changes import AddStep, SetStatus
from planwire.model.unheard import standing
from tests.deciding import fold

TODO = ItemsPlan("main", (Entry("Read", "high", "pending"), Entry("Write", None, "pending")))


class Story:
    """Events one after the other, and what the model is told of each."""

    def __init__(self) -> None:
        self.state = SessionState("s")

    def tell(self, event: Event, by: str = "agent") -> Stored | None:
        before = self.state
        recorded = Recorded("s", before.seq + 1, 1_000 + before.seq, by, decided(before, event, by))
        self.state = fold(before, recorded)
        return message_for(recorded, before, self.state)

    def shown(self, event: Event, by: str = "agent") -> str:
        message = self.tell(event, by)
        assert isinstance(message, PlanMessage | EventMessage)
        assert read_message(write_message(message)) == message, "it can be stored"
        return block(message)

    def plan(self, plan_id: str | None = "main") -> PlanRecord:
        return self.state.plans[plan_id]


def test_a_plan_that_was_set_is_told_with_its_version_and_what_it_supersedes() -> None:
    story = Story()
    first = story.tell(PlanSet(TODO, "It broke", mode="agent"))
    assert first == PlanMessage(
        made_name(Recorded("s", 1, 1_000, "agent", PlanSet(TODO))),
        "s1 [ ] (high) Read\ns2 [ ] (medium) Write",
        {
            "id": "main",
            "mode": "agent",
            "version": 1,
            "created_at_ms": 1_000,
            "supersedes": None,
            "revision": 1,
            "kind": "items",
            "by": "agent",
            "steps": [
                {"id": "s1", "content": "Read", "status": "pending", "priority": "high", "depth": 0},
                {"id": "s2", "content": "Write", "status": "pending", "priority": "medium", "depth": 0},
            ],
            "summary": "It broke",
        },
    )
    story.tell(TurnEnded("end_turn"))
    second = story.tell(PlanSet(MarkdownPlan("main", "- [ ] Read\n- [x] More")))
    assert isinstance(second, PlanMessage)
    assert (second.id, second.version, second.plan["supersedes"]) == (story.plan().message, 2, first.id)
    assert second.content == "- [ ] Read\n- [x] More"


def test_plans_of_every_kind_are_told() -> None:
    story = Story()
    assert "\n<file>file:///p.md</file>\n" in story.shown(PlanSet(FilePlan("f", "file:///p.md")))
    assert '\n<text>{"nodes":[1]}</text>\n' in story.shown(PlanSet(OtherPlan("o", "_tree", {"nodes": [1]})))
    markdown = story.shown(PlanSet(MarkdownPlan("m", "- [ ] a")))
    assert '<text>- [ ] a</text>\n<index step="s1" words="a"/>' in markdown
    assert story.shown(PlanSet(ItemsPlan("i", ()))) == '<plan id="i" version="1" revision="4" by="agent">\n</plan>'


def test_a_change_is_told_with_its_number_and_the_ids_of_new_steps() -> None:
    story = Story()
    story.tell(PlanSet(TODO))
    event = PlanChanged(
        "main", "Found two more", (SetStatus("s1", "completed"), AddStep("Last"), AddStep("First", "", "low"))
    )
    assert story.shown(event) == (
        '<plan-update id="main" seq="1" revision="2" by="agent">\n'
        '<status step="s1">completed</status>\n'
        '<add id="s3" place="end">Last</add>\n'
        '<add id="s4" priority="low" place="beginning">First</add>\n'
        "<note>Found two more</note>\n"
        "</plan-update>"
    )
    steps = {step.content: step.id for step in story.plan().state.steps}
    assert (steps["Last"], steps["First"]) == ("s3", "s4")
    assert 'seq="2"' in story.shown(PlanChanged("main", "more"))


def test_who_made_a_change_is_stored_with_it() -> None:
    story = Story()
    story.tell(PlanSet(TODO))
    by_agent = story.tell(PlanChanged("main", "x"))
    by_person = story.tell(PlanChanged("main", "y"), "user")
    assert isinstance(by_agent, EventMessage)
    assert isinstance(by_person, EventMessage)
    assert (by_agent.source, by_agent.payload["by"]) == ("tool.update_plan", "agent")
    assert (by_person.source, by_person.payload["by"]) == ("user", "user")


def test_what_people_say_is_told_where_a_telling_puts_it_and_its_end_with_the_next_one() -> None:
    story = Story()
    story.tell(PlanSet(TODO, via=ACP))
    cancelled = (SetStatus("s2", "cancelled"),)
    assert story.tell(Remarked("main", "suggestion", "", 1, changes=cancelled), "ann") is None
    assert story.tell(Remarked("main", "comment", "Why?", 1, "s1"), "bob") is None
    assert story.tell(Told(TOOL, 3, 0, ("r1",), "tool-4", OFFERED)) is None, "the answer of a tool has it"
    meaning = "a change to your plan that is asked for, and not made yet"
    assert story.shown(Told(CONTEXT, 3, 0, ("r1", "r2"), "context-5", OFFERED)) == (
        "<plan-remarks>\n"
        f'<suggestion id="r1" by="ann" plan="main" said-before="perhaps" means="{meaning}">\n'
        '<status step="s2">cancelled</status>\n</suggestion>\n'
        '<comment id="r2" by="bob" plan="main" step="s1">Why?</comment>\n'
        "</plan-remarks>"
    )
    assert story.tell(Told(CONTEXT, 3, 0, ("r1", "r2"), "context-5")) is None
    assert story.tell(RemarkClosed("main", "r1", "withdrawn", "never mind"), "bob") is None
    assert story.shown(Told(CONTEXT, 7, 3, (), "context-8", OFFERED)) == (
        '<plan-remarks>\n<closed id="r1" by="bob" plan="main" how="withdrawn" means="it holds no longer">'
        "never mind</closed>\n</plan-remarks>"
    )


def test_a_question_that_nobody_answered_is_not_told() -> None:
    story = Story()
    story.tell(PlanSet(TODO))
    assert story.tell(ReviewAsked("main", (Choice("yes", "Yes"), Choice("no", "No")))) is None
    assert story.tell(PlanReviewed("main", 1, DISMISSED), "client") is None
    assert "dismissed" not in block(merged_plan(story.plan(), "m"))


def test_the_removal_of_a_plan_is_told_once() -> None:
    story = Story()
    story.tell(PlanSet(TODO))
    assert story.shown(PlanRemoved("main"), "ann") == ('<plan-update id="main" by="ann">\n<dismissed/>\n</plan-update>')
    assert story.tell(PlanRemoved("main")) is None
    assert story.tell(PlanChanged("main", "too late")) is None


def test_the_plan_without_an_id_is_told_as_main() -> None:
    story = Story()
    assert story.shown(PlanSet(ItemsPlan(None, TODO.entries), via=ACP)).startswith('<plan id="main" version="1"')
    assert story.shown(PlanChanged(None, "hm")).startswith('<plan-update id="main" seq="1"')


def test_a_message_comes_back_as_it_was_stored() -> None:
    story = Story()
    message = story.tell(MessageAdded({"role": "user", "content": "Hi"}))
    assert message == Ordinary(message.id if message else "", {"role": "user", "content": "Hi"})
    own = {"message_id": "x", "role": "event", "content": "", "extra": {"event": {"subkind": "tick"}}}
    assert story.tell(MessageAdded(own)) == EventMessage("x", "", {"subkind": "tick"})
    assert story.tell(MessageAdded({"role": "plan", "content": []})) is None, "it can't be read, so it is not told"


def test_events_that_are_not_about_plans_are_not_told() -> None:
    story = Story()
    events = (SessionOpened(agent="a"), TurnEnded("end_turn"), ContextCompacted(), Gap(2, "why"), PlanRemoved("x"))
    assert [story.tell(event) for event in events] == [None] * 5
    assert story.tell(PlanReviewed("x", 1, APPROVED)) is None


def test_telling_again_gives_the_same_words_and_ids() -> None:
    events: list[Event] = [PlanSet(TODO), PlanChanged("main", "n", (AddStep("x"),)), PlanReviewed("main", 2, APPROVED)]
    one, other = Story(), Story()
    assert [one.tell(event) for event in events] == [other.tell(event) for event in events]


def test_a_merged_plan_holds_all_that_happened_since_it_was_set_and_whose_it_is() -> None:
    story = Story()
    story.tell(PlanSet(TODO, "It broke"))
    story.tell(PlanChanged("main", "Slow disk", (SetStatus("s1", "completed"),)), "ann")
    story.tell(PlanChanged("main", None, (AddStep("Test"),)), "bob")
    story.tell(Remarked("main", "comment", "Quick!", 3, "s3"), "ann")
    story.tell(PlanReviewed("main", 3, APPROVED, via="planwire"), "ann")
    merged = merged_plan(story.plan(), "rebase-1")
    assert (merged.id, merged.version, merged.plan["supersedes"]) == ("rebase-1", 1, story.plan().message)
    assert block(merged) == (
        '<plan id="main" version="1" revision="3" by="agent">\n'
        '<step id="s1" status="completed" priority="high">Read</step>\n'
        '<step id="s2">Write</step>\n'
        '<step id="s3" by="bob">Test</step>\n'
        "<why>It broke</why>\n"
        '<note by="ann">Slow disk</note>\n'
        "</plan>"
    )
    said = said_in(block(remark_message("m", "s", standing(story.state))))
    assert said == (Said("ann", "comment", "main#s3", "Quick!"), Said("ann", "verdict", "main", "approved"))


def test_a_verdict_that_is_out_of_date_does_not_stand_and_a_suggestion_does() -> None:
    story = Story()
    story.tell(PlanSet(TODO, via=ACP))
    story.tell(PlanReviewed("main", 1, APPROVED, via="planwire"), "user")
    story.tell(Remarked("main", "suggestion", "please", 1, changes=(SetStatus("s2", "cancelled"),)), "user")
    story.tell(PlanSet(ItemsPlan("main", (*TODO.entries, Entry("More", None, "pending"))), via=ACP))
    said = said_in(block(remark_message("m", "s", standing(story.state))))
    assert [(each.kind, each.text) for each in said] == [("suggestion", "please"), ("status", "cancelled")]


def test_only_living_plans_are_told_and_a_proposal_that_got_no_list_by_its_title_in_the_end() -> None:
    story = Story()
    story.tell(PlanSet(MarkdownPlan("one", "# One\n\nlong")))
    story.tell(ReviewAsked("one"))
    story.tell(PlanSet(MarkdownPlan("two", "# Two\n\nlong")))
    story.tell(ReviewAsked("two"))
    assert [each.plan_id for each in merged_plans(story.state, "m")] == ["two"], "a proposal replaces earlier ones"
    story.tell(PlanReviewed("two", 3, APPROVED, via="planwire"), "ann")
    for turns in range(1, 4):
        [told] = merged_plans(story.state, "m")
        assert ("long" in block(told)) is (turns <= 2)
        story.tell(TurnEnded("end_turn"))
    [told] = merged_plans(story.state, "m")
    assert block(told) == '<plan id="two" version="1" revision="3" by="agent">\n<title>Two</title>\n</plan>'
    again = story.shown(PlanReopened("one"), "ann")
    assert again.startswith('<plan id="one" version="1"')
