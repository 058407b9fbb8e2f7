"""What the model is told of events, and a plan with all that happened to it as one message."""

from planwire import Entry, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan
from planwire.chat import EventMessage, Ordinary, PlanMessage, Stored, block, merged_plan, message_for, read_message
from planwire.chat.messages import write_message
from planwire.model.events import (
    ACP,
    APPROVED,
    CHANGES_REQUESTED,
    DISMISSED,
    AddStep,
    Comment,
    ContextCompacted,
    Event,
    MessageAdded,
    PlanChanged,
    PlanRemoved,
    PlanReviewed,
    PlanSet,
    Recorded,
    ReviewAsked,
    SessionOpened,
    SetStatus,
    SuggestionWithdrawn,
    TurnEnded,
)
from planwire.model.fold import fold
from planwire.model.records import PlanRecord, SessionState

TODO = ItemsPlan("main", (Entry("Read", "high", "pending"), Entry("Write", None, "pending")))


class Story:
    """Events one after the other, and what the model is told of each."""

    def __init__(self) -> None:
        self.state = SessionState("s")

    def tell(self, event: Event, by: str = "agent") -> Stored | None:
        before = self.state
        recorded = Recorded("s", before.seq + 1, 1_000 + before.seq, by, event)
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
        "plan-1",
        "s1 [ ] (high) Read\ns2 [ ] (medium) Write",
        {
            "id": "main",
            "mode": "agent",
            "version": 1,
            "created_at_ms": 1_000,
            "supersedes": None,
            "revision": 1,
            "kind": "items",
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
    assert (second.id, second.version, second.plan["supersedes"]) == ("plan-3", 2, "plan-1")
    assert second.content == "- [ ] Read\n- [x] More"


def test_plans_of_every_kind_are_told() -> None:
    story = Story()
    assert "\nfile:///p.md\n" in story.shown(PlanSet(FilePlan("f", "file:///p.md")))
    assert '\n{"nodes":[1]}\n' in story.shown(PlanSet(OtherPlan("o", "_tree", {"nodes": [1]})))
    assert "<steps>\ns1 a\n</steps>" in story.shown(PlanSet(MarkdownPlan("m", "- [ ] a")))
    assert story.shown(PlanSet(ItemsPlan("i", ()))) == '<plan id="i" version="1" revision="4">\n\n</plan>'


def test_a_change_is_told_with_its_number_and_the_ids_of_new_steps() -> None:
    story = Story()
    story.tell(PlanSet(TODO))
    event = PlanChanged(
        "main", "Found two more", (SetStatus("s1", "completed"), AddStep("Last"), AddStep("First", "", "low"))
    )
    assert story.shown(event) == (
        '<plan-update id="main" seq="1">\n'
        "Found two more\n"
        "s1 completed\n"
        "s3 [ ] (medium) Last (added at the end)\n"
        "s4 [ ] (low) First (added at the beginning)\n"
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


def test_what_a_person_suggests_for_an_agents_plan_is_told_as_a_suggestion_and_withdrawn() -> None:
    story = Story()
    story.tell(PlanSet(TODO, via=ACP))
    suggestion = story.shown(PlanChanged("main", None, (SetStatus("s2", "cancelled"),)), "user")
    assert "The user asks for this change; it is not made yet:\ns2 cancelled\n" in suggestion
    assert "The suggestion of update 1 is withdrawn." in story.shown(SuggestionWithdrawn("main", 2), "user")
    assert story.tell(SuggestionWithdrawn("main", 2), "user") is None


def test_a_review_is_told() -> None:
    story = Story()
    story.tell(PlanSet(TODO))
    review = PlanReviewed("main", 1, CHANGES_REQUESTED, (Comment("Why?", "s2"),), ("s1",))
    assert story.shown(review, "user") == (
        '<plan-update id="main">\n'
        "The user reviewed revision 1: changes requested.\n"
        "Run only these steps now, and leave the others until you are told:\n"
        "s1 Read\n"
        "s2 (Write): Why?\n"
        "</plan-update>"
    )


def test_a_question_that_nobody_answered_is_not_told() -> None:
    story = Story()
    story.tell(PlanSet(TODO))
    assert story.tell(ReviewAsked("main", ("Yes", "No"))) is None
    assert story.tell(PlanReviewed("main", 1, DISMISSED), "client") is None
    assert "dismissed" not in block(merged_plan(story.plan(), "m"))


def test_the_removal_of_a_plan_is_told_once() -> None:
    story = Story()
    story.tell(PlanSet(TODO))
    assert story.shown(PlanRemoved("main")) == '<plan-update id="main">\nThis plan is dismissed.\n</plan-update>'
    assert story.tell(PlanRemoved("main")) is None
    assert story.tell(PlanChanged("main", "too late")) is None


def test_the_plan_without_an_id_is_told_as_main() -> None:
    story = Story()
    assert story.shown(PlanSet(ItemsPlan(None, TODO.entries), via=ACP)).startswith('<plan id="main" version="1"')
    assert story.shown(PlanChanged(None, "hm")).startswith('<plan-update id="main" seq="1"')


def test_a_message_comes_back_as_it_was_stored() -> None:
    story = Story()
    assert story.tell(MessageAdded({"role": "user", "content": "Hi"})) == Ordinary(
        "m1", {"role": "user", "content": "Hi"}
    )
    own = {"message_id": "x", "role": "event", "content": "", "extra": {"event": {"subkind": "tick"}}}
    assert story.tell(MessageAdded(own)) == EventMessage("x", "", {"subkind": "tick"})
    assert story.tell(MessageAdded({"role": "plan", "content": []})) is None, "it can't be read, so it is not told"


def test_events_that_are_not_about_plans_are_not_told() -> None:
    story = Story()
    events = (SessionOpened(agent="a"), TurnEnded("end_turn"), ContextCompacted(), PlanRemoved("x"))
    assert [story.tell(event) for event in events] == [None] * 4
    assert story.tell(PlanReviewed("x", 1, APPROVED)) is None


def test_telling_again_gives_the_same_words_and_ids() -> None:
    events: list[Event] = [PlanSet(TODO), PlanChanged("main", "n", (AddStep("x"),)), PlanReviewed("main", 2, APPROVED)]
    one, other = Story(), Story()
    assert [one.tell(event) for event in events] == [other.tell(event) for event in events]


def test_a_merged_plan_holds_all_that_happened_since_it_was_set() -> None:
    story = Story()
    story.tell(PlanSet(TODO, "It broke"))
    story.tell(PlanChanged("main", "Slow disk", (SetStatus("s1", "completed"),)))
    story.tell(PlanChanged("main", None, (AddStep("Test"),)))
    story.tell(PlanReviewed("main", 3, APPROVED, (Comment("Good"), Comment("Quick!", "s3")), ("s3",)), "user")
    merged = merged_plan(story.plan(), "rebase-1")
    assert (merged.id, merged.version, merged.plan["supersedes"]) == ("rebase-1", 1, "plan-1")
    assert block(merged) == (
        '<plan id="main" version="1" revision="3">\n'
        "s1 [x] (high) Read\n"
        "s2 [ ] (medium) Write\n"
        "s3 [ ] (medium) Test\n"
        "why: It broke\n"
        "note: Slow disk\n"
        "note: the user said: approved; run only s3 now, and leave the others until you are told; plan: Good; "
        "s3: Quick!\n"
        "</plan>"
    )


def test_a_merged_plan_holds_open_suggestions_and_no_review_that_is_out_of_date() -> None:
    story = Story()
    story.tell(PlanSet(TODO, via=ACP))
    story.tell(PlanReviewed("main", 1, APPROVED), "user")
    story.tell(PlanChanged("main", "please", (SetStatus("s2", "cancelled"),)), "user")
    shown = block(merged_plan(story.plan(), "m"))
    assert "note: the user suggests: please; s2 cancelled\n" in shown
    assert "approved" not in shown
