"""The plan told again: when, in which words, and how its echo is taken out."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.chat.markup import inside
from planwire.chat.messages import PlanMessage
from planwire.chat.reminder import read_reminder
from planwire.chat.render import block as rendered
from planwire.chat.retelling import _shortened
from planwire.chat.said import Said, said_in
from planwire.model.events import (
    ACP,
    CHANGES_REQUESTED,
    SELECTION,
    ContextCompacted,
    Event,
    FileSeen,
    MessageAdded,
    PlanChanged,
    PlanReviewed,
    PlanSet,
    Recorded,
    Remarked,
)
from planwire.model.plan import BODY_CAP, Entry, FilePlan, ItemsPlan
from planwire.model.step_changes import SetStatus
from planwire.relay.actions import SessionMemory
from planwire.relay.dedupe import begin, learn
from planwire.relay.echoes import Echoes, SentBlock
from planwire.relay.reminder import block
from tests.agents.driving import Talk
from tests.wire import JSON, answer, entry, file, items, line, plan, refusal, request, text, update_of

LIST = PlanSet(ItemsPlan(None, (Entry("Read", "high", "completed"), Entry("Write", "low", "pending"))), via=ACP)


def known(*events: Event, session: str = "s1", by: str = "user") -> SessionMemory:
    found = begin(session)
    for seq, event in enumerate(events, start=1):
        found = learn(
            found,
            Recorded(
                session, seq, 0, by if isinstance(event, (PlanChanged, PlanReviewed, Remarked)) else "agent", event
            ),
        )
    return found


def added(prompt: JSON) -> str | None:
    """The text that was added to a prompt."""
    parts = prompt["params"]["prompt"]
    assert parts[0] == {"type": "text", "text": parts[0]["text"]}
    return parts[1]["text"] if len(parts) > 1 else None


def compact(talk: Talk) -> None:
    talk.agent(line({"sessionUpdate": "compaction_update", "compactionId": "c", "status": "completed"}))


def test_after_a_compaction_the_next_prompt_tells_the_plan_once() -> None:
    talk = Talk()
    talk.agent(plan(entry("Read", "completed"), entry("Write <it>", "in_progress")))
    assert added(talk.prompt()) is None
    compact(talk)
    told = added(talk.prompt())
    assert told is not None
    steps = '<step id="s1" status="completed">Read</step>\n<step id="s2" status="in_progress">Write &lt;it></step>'
    assert f'by="agent">\n{steps}\n</plan>' in told
    assert added(talk.prompt()) is None


def test_the_agents_own_plan_is_told_under_another_name_than_the_one_of_the_tools() -> None:
    """The agent must know which one its tools change. A plan without an id goes by its title, as it does everywhere."""
    talk = Talk()
    talk.agent(plan(entry("Mine")))
    talk.policy.learn("s1", known(PlanSet(ItemsPlan("main", (Entry("Ours", "high", "pending"),))), LIST))
    compact(talk)
    told = added(talk.prompt())
    assert told is not None
    said = [(each.target, each.text) for each in said_in(told) if each.kind == "step"]
    assert said == [("main#s1", "Ours"), ("Plan 2#s3", "Mine")]


def test_a_fall_of_the_used_context_by_more_than_half_is_a_compaction() -> None:
    talk = Talk()
    talk.agent(plan(entry("a")))
    for used, is_told in ((1000, False), (500, False), (249, True), (248, False)):
        talk.agent(line({"sessionUpdate": "usage_update", "used": used, "size": 2000}))
        assert (added(talk.prompt()) is not None) is is_told


def test_without_plans_there_is_nothing_to_tell() -> None:
    talk = Talk()
    talk.agent(plan(entry("a")))
    talk.agent(plan())
    compact(talk)
    assert added(talk.prompt()) is None


def test_every_plan_is_told_and_the_removed_ones_are_not() -> None:
    talk = Talk({"plan": {}})
    for each in (items("p", entry("a")), text("q", "# Text\n- [ ] box"), items("gone", entry("x"))):
        talk.agent(each)
    talk.agent(line({"sessionUpdate": "plan_removed", "planId": "gone"}))
    compact(talk)
    told = added(talk.prompt())
    assert told is not None
    assert '<plan id="p"' in told
    assert "# Text\n- [ ] box" in told
    assert "gone" not in told


def test_a_plan_file_is_told_with_its_address_and_its_text_as_it_is_by_then() -> None:
    talk = Talk({"plan": {}})
    talk.files["file:///project/plan.md", "/project"] = "- [ ] read\n"
    talk.agent(file("f", "file:///project/plan.md"))
    talk.files["file:///project/plan.md", "/project"] = "# Port\n\n- [x] read <it>\n- [ ] write\n"
    compact(talk)
    told = added(talk.prompt()) or ""
    body = (
        '<file>file:///project/plan.md</file>\n<text by="file">\n# Port\n\n- [x] read &lt;it>\n- [ ] write\n\n</text>\n'
        '<index step="s1" words="read &lt;it&gt;"/>\n<index step="s2" words="write"/>'
    )
    assert f'revision="2" by="agent">\n{body}\n</plan>' in told
    talk = Talk({"plan": {}})
    talk.agent(file("f", "file:///project/plan.md"))
    compact(talk)
    told = added(talk.prompt()) or ""
    assert 'revision="1" by="agent">\n<file>file:///project/plan.md</file>\n</plan>' in told


def test_a_choice_of_steps_of_a_plan_file_is_about_the_file_as_it_is_by_then() -> None:
    talk = Talk({"plan": {}})
    talk.files["file:///project/plan.md", "/project"] = "1. Read\n2. Delete the production database\n3. Test it well\n"
    talk.agent(file("f", "file:///project/plan.md"))
    seen = FileSeen("f", "1. Read\n2. Delete the staging database\n3. Test it\n", ids=("s1", "s2", "s3"))
    about = {"s2": "Delete the staging database", "s3": "Test it"}
    chosen = Remarked("f", SELECTION, revision=2, steps=("s2", "s3"), about=about, id="r1")
    talk.policy.learn("s1", known(PlanSet(FilePlan("f", "file:///project/plan.md"), via=ACP), seen, chosen))
    compact(talk)
    told = added(talk.prompt()) or ""
    assert '<stale step="s2" by="plan">Delete the staging database</stale>' in told
    assert '<stale step="s3" by="plan">Test it</stale>' in told
    assert 'step="s2" words="Delete the production' not in told


@pytest.mark.parametrize("first", ["/compact", " /help me", "/"])
def test_a_command_is_left_alone_and_the_next_prompt_tells(first: str) -> None:
    talk = Talk()
    talk.agent(plan(entry("a")))
    compact(talk)
    assert added(talk.prompt(first)) is None
    assert added(talk.prompt("go on")) is not None


def test_it_can_be_turned_off() -> None:
    talk = Talk(context=False)
    talk.agent(plan(entry("a")))
    compact(talk)
    assert added(talk.prompt()) is None


def test_the_rest_of_the_prompt_is_left_byte_for_byte() -> None:
    talk = Talk()
    talk.agent(plan(entry("a")))
    compact(talk)
    prompt = (
        b'{ "id":1e0,"method":"session/prompt","params":{"prompt":[ {"type":"image","data":"]}\\"","x":1.10} ], '
        b'"sessionId":"s1","_meta":{"prompt":[0]}}}\t'
    )
    (sent,) = talk.client(prompt)
    head, tail = prompt.split(b' ], "sessionId"')
    assert sent.startswith(head + b" ,{")
    assert sent.endswith(b'}], "sessionId"' + tail)


def test_a_prompt_that_was_refused_did_not_tell() -> None:
    talk = Talk()
    talk.agent(plan(entry("a")))
    compact(talk)
    assert added(talk.prompt()) is not None
    talk.agent(refusal("p"))
    assert added(talk.prompt()) is not None


def test_a_suggestion_in_a_prompt_that_was_refused_is_told_again() -> None:
    """The block of the refused prompt is in the journal all the same."""
    talk = Talk()
    talk.know(known(LIST, SUGGESTION))
    assert "Please hurry" in (added(talk.prompt()) or "")
    talk.learn()
    talk.agent(refusal("p"))
    assert "Please hurry" in (added(talk.prompt()) or "")
    talk.learn()
    talk.end_turn()
    assert added(talk.prompt()) is None


def test_a_journal_that_lags_behind_has_nothing_told_twice() -> None:
    """It learns of the compaction, and of what the agent was told after it, only when that is over."""
    talk = Talk()
    talk.agent(plan(entry("a")))
    compact(talk)
    assert added(talk.prompt()) is not None
    events = talk.events()
    compaction = next(seq for seq, event in enumerate(events, start=1) if isinstance(event, ContextCompacted))
    for length in range(compaction, len(events) + 1):
        talk.policy.learn("s1", known(*events[:length], by="relay"))
        assert added(talk.prompt()) is None


def load(talk: Talk, *retold: bytes, method: str = "session/load", known_: SessionMemory | None = None) -> None:
    talk.client(request(method, "l", sessionId="old", cwd="/project", mcpServers=[]))
    if known_ is not None:
        talk.know(known_)
    for each in retold:
        talk.agent(each)
    talk.agent(answer("l", {}))


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
def test_after_a_load_without_the_plan_it_is_told(method: str) -> None:
    """R37, R38: what the journal knows and the agent did not tell."""
    talk = Talk()
    load(talk, method=method, known_=known(LIST, session="old"))
    told = added(talk.prompt(session="old"))
    assert told is not None
    assert '<step id="s2" priority="low">Write</step>' in told
    assert added(talk.prompt(session="old")) is None


def test_after_a_load_with_the_plan_it_is_not_told() -> None:
    talk = Talk()
    load(
        talk,
        plan(entry("Read", "completed", "high"), entry("Write", priority="low"), session="old"),
        known_=known(LIST, session="old"),
    )
    assert added(talk.prompt(session="old")) is None


def test_a_session_that_is_loaded_again_without_its_plan_is_told_it() -> None:
    talk = Talk()
    talk.agent(plan(entry("a")))
    talk.client(request("session/load", "l", sessionId="s1", cwd="/project"))
    talk.agent(answer("l", None))
    assert added(talk.prompt()) is not None


def test_a_compaction_of_an_earlier_connection_that_was_not_told_is_told() -> None:
    talk = Talk()
    retold = plan(entry("Read", "completed", "high"), entry("Write", priority="low"), session="old")
    load(talk, retold, known_=known(LIST, ContextCompacted(), session="old"))
    assert added(talk.prompt(session="old")) is not None


SUGGESTION = Remarked(None, "suggestion", "Please hurry", changes=(SetStatus("s2", "completed"),))
REVIEW = PlanReviewed(None, 1, CHANGES_REQUESTED, via="planwire")
REQUEST = Remarked(None, "request", "too vague", 1, "s2", review=2)


@pytest.mark.parametrize(
    ("event", "words"),
    [(SUGGESTION, "Please hurry"), (REVIEW, "changes_requested</verdict>"), (REQUEST, "too vague</request>")],
)
def test_what_a_person_says_of_the_plan_is_told_once(event: Event, words: str) -> None:
    talk = Talk()
    talk.know(known(LIST))
    assert added(talk.prompt()) is None
    talk.know(known(LIST, event))
    assert words in (added(talk.prompt()) or "")
    assert added(talk.prompt()) is None


def test_a_review_of_the_plan_as_it_was_reaches_the_agent_too() -> None:
    talk = Talk()
    newer = PlanSet(ItemsPlan(None, (Entry("Else", "low", "pending"),)), via=ACP)
    talk.know(known(LIST, newer, REVIEW, REQUEST))
    told = added(talk.prompt()) or ""
    assert '<verdict by="user" plan="Plan" revision="1">changes_requested</verdict>' in told
    assert '<request id="r1" by="user" plan="Plan" step="s2" ' in told
    assert ">too vague</request>" in told
    assert added(talk.prompt()) is None


@pytest.mark.parametrize("by", ["agent", "client"])
def test_what_the_agent_knows_already_is_not_told(by: str) -> None:
    """A review that went through a permission request reached the agent that way."""
    talk = Talk()
    talk.know(known(LIST, REVIEW, by=by))
    assert added(talk.prompt()) is None


# -- the mark and the echo


def told_prompt(talk: Talk) -> str:
    talk.agent(plan(entry("a")))
    compact(talk)
    told = added(talk.prompt())
    assert told is not None
    return told


def journalled(talk: Talk) -> SessionMemory:
    """What the journal knows of the session in the end."""
    return known(*talk.events(), by="relay")


def echo(content: Any, sort: str = "user_message_chunk", session: str = "s1") -> bytes:
    return line({"sessionUpdate": sort, "content": content, "messageId": "m"}, session)


def test_the_mark_is_journalled_with_its_text() -> None:
    talk = Talk()
    told = told_prompt(talk)
    (message,) = [event.message for event in talk.events() if isinstance(event, MessageAdded)]
    reminder = read_reminder(message)
    assert reminder is not None
    assert (reminder.text, reminder.why) == (told, "Your context was compacted.")
    assert message["role"] == "event"


def test_an_echo_is_taken_out() -> None:
    talk = Talk()
    told = told_prompt(talk)
    own = echo({"type": "text", "text": "Go on."})
    assert talk.agent(own) == [own]
    assert talk.agent(echo({"type": "text", "text": told})) == []
    (sent,) = talk.agent(echo({"type": "text", "text": f"Go on.\n{told}"}))
    assert update_of(sent) == {
        "sessionUpdate": "user_message_chunk",
        "content": {"type": "text", "text": "Go on."},
        "messageId": "m",
    }


def test_an_echo_of_version_2_is_taken_out_of_its_message() -> None:
    talk = Talk(version=2)
    told = told_prompt(talk)
    parts = [{"type": "text", "text": "Go on."}, {"text": told, "type": "text"}]
    (sent,) = talk.agent(echo(parts, "user_message"))
    assert update_of(sent)["content"] == parts[:1]
    assert talk.agent(echo(parts[1:], "user_message")) == []


def test_an_echo_of_version_2_is_taken_out_of_the_part_that_holds_it() -> None:
    """Some agents make one text of the whole prompt."""
    talk = Talk(version=2)
    told = told_prompt(talk)
    image = {"type": "image", "data": "…"}
    (sent,) = talk.agent(echo([image, {"type": "text", "text": f"Go on.\n{told}", "x": 1}], "user_message"))
    assert update_of(sent)["content"] == [image, {"type": "text", "text": "Go on.", "x": 1}]


def test_an_echo_that_is_not_exact_is_left_alone() -> None:
    talk = Talk()
    told = told_prompt(talk)
    for changed in (told[:-1], told[1:], told.replace("compacted", "compressed"), told[: len(told) // 2]):
        sent = echo({"type": "text", "text": changed})
        assert talk.agent(sent) == [sent]
    forged = echo({"type": "text", "text": block("anything", "abc")[1]})
    assert talk.agent(forged) == [forged]


def test_what_the_agent_says_itself_is_never_touched() -> None:
    talk = Talk()
    quoted = echo({"type": "text", "text": told_prompt(talk)}, "agent_message_chunk")
    assert talk.agent(quoted) == [quoted]


def test_the_echo_of_an_earlier_connection_is_taken_out_even_before_the_journal_has_answered() -> None:
    talk = Talk()
    told = told_prompt(talk)
    for knows in (False, True):
        later = Talk()
        later.client(request("session/load", "l", sessionId="s1", cwd="/project"))
        if knows:
            later.know(journalled(talk))
        assert later.agent(echo({"type": "text", "text": told})) == []


def test_an_echo_of_a_block_that_a_relay_could_not_record_any_more_is_taken_out_of_a_replay() -> None:
    before = Talk()
    before.agent(plan(entry("a")))
    compact(before)
    block = added(before.prompt("Go on"))
    talk = Talk(begun=False)
    talk.begin(session="s9")
    talk.client(request("session/load", "l", sessionId="s1", cwd="/project", mcpServers=[]))
    talk.policy.learn("s1", known(LIST))
    echo = {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": f"Go on {block}"}}
    (left,) = talk.agent(line(echo))
    assert update_of(left)["content"]["text"] == "Go on"


@pytest.mark.parametrize("title", ["Go on", "Go on {}", "Go on <plan", "Go on <planwire-cont…", "Go on\n<planwire..."])
def test_a_title_that_is_made_of_the_whole_prompt_ends_where_the_relays_block_begins(title: str) -> None:
    talk = Talk()
    talk.agent(plan(entry("a")))
    compact(talk)
    block = added(talk.prompt("Go on"))
    (sent,) = talk.agent(line({"sessionUpdate": "session_info_update", "title": title.format(block)}))
    assert update_of(sent)["title"] == "Go on"


@pytest.mark.parametrize("knows_at_once", [False, True])
def test_a_history_that_holds_the_last_block_is_not_told_it_again(knows_at_once: bool) -> None:
    """R37: the agent does not retell a plan of before its compaction, but it does what it was told of it."""
    talk = Talk()
    talk.agent(plan(entry("a")))
    talk.learn()
    told = told_prompt(talk)
    talk.end_turn()
    found = journalled(talk)
    is_told = {}
    for echoed in (told, told[:-1], block("another", "abc")[1]):
        later = Talk()
        later.client(request("session/load", "l", sessionId="s1", cwd="/project"))
        if knows_at_once:
            later.know(found)
        later.agent(echo({"type": "text", "text": echoed}))
        later.agent(answer("l", {}))
        later.know(found)
        is_told[echoed] = added(later.prompt()) is not None
    assert list(is_told.values()) == [False, True, True]


def test_a_history_that_holds_the_plan_as_it_was_is_told_how_it_is() -> None:
    talk = Talk()
    told = told_prompt(talk)
    talk.learn()
    talk.agent(plan(entry("b")))
    later = Talk()
    later.client(request("session/load", "l", sessionId="s1", cwd="/project"))
    later.know(journalled(talk))
    later.agent(echo({"type": "text", "text": told}))
    later.agent(answer("l", {}))
    assert '<step id="s2">b</step>' in (added(later.prompt()) or "")


@given(st.text(), st.text(), st.text(alphabet="abc012", min_size=1), st.text())
def test_only_the_very_block_is_taken_out_of_any_text(before: str, body: str, word: str, after: str) -> None:
    mark, told = block(body.replace("<", "&lt;"), word)
    gap = before[len(before.rstrip()) :]
    echoes = Echoes({mark: SentBlock(told, gap)})
    assert echoes.without(before + told + after) == before + after
    assert echoes.without(before + after) is None
    assert Echoes({}).without(before + told + after) is None
    assert Echoes({}, trust=True).without(told) == ""


@given(st.text(), st.sampled_from(["", " ", "\n", "\n\n", " \n"]), st.booleans())
def test_what_an_agent_joins_texts_with_goes_and_the_persons_own_whitespace_stays(
    said: str, joiner: str, is_known: bool
) -> None:
    mark, told = block("the plan", "abc")
    echoes = Echoes({mark: SentBlock(told, said[len(said.rstrip()) :])}, joiner=joiner if is_known else None)
    assert echoes.without(f"{said}{joiner}{told}") == said
    assert echoes.without(f"{said.rstrip()}{joiner}{told}") in (said, said.rstrip())


def test_many_openings_without_an_end_take_no_time() -> None:
    """Quadratic time would be days."""
    opening = '<planwire-context mark="abc-12345678">\n'
    assert Echoes({}, trust=True).without("\n</planwire-context>" + opening * 200_000) is None


def test_a_plan_of_any_size_is_told_shortened() -> None:
    talk = Talk({"plan": {}})
    talk.agent(text("p", "# Long\n" + "x" * 500_000))
    compact(talk)
    prompt = talk.prompt()
    assert 96 * 1024 < len(json.dumps(prompt)) < 110 * 1024
    *_, body, notice = said_in(added(prompt) or "")
    assert (body.author, body.kind, body.target, notice.author) == ("agent", "text", "p", "planwire")
    assert ("# Long\n" + "x" * 500_000).startswith(body.text)


ONE_STEP = [{"id": "s1", "content": "a", "status": "", "priority": ""}]
AWKWARD = "a&<\x1b😀ü\r]]>\n"


def is_cut_well(plan: PlanMessage) -> list[Said]:
    """What a long plan still says, once its end is left out."""
    told = _shortened(rendered(plan), BODY_CAP)
    assert BODY_CAP - 10_000 < len(told.encode()) < BODY_CAP + 200
    *said, notice = said_in(told)
    assert (notice.author, notice.kind, notice.target) == ("planwire", "notice", "p")
    return said


def test_a_text_that_is_cut_anywhere_still_says_who_said_what() -> None:
    for shift in range(len(inside(AWKWARD).encode())):
        content = "y" * shift + AWKWARD * (BODY_CAP // 30)
        plan = {"id": "p", "kind": "markdown", "by": "agent", "steps": ONE_STEP}
        [said] = is_cut_well(PlanMessage("m", content, plan))
        assert (said.author, said.kind) == ("agent", "text")
        assert content.startswith(said.text)


def test_a_file_that_is_cut_is_still_the_files_text() -> None:
    content = AWKWARD * (BODY_CAP // 20)
    _, said = is_cut_well(PlanMessage("m", "file:///x", {"id": "p", "kind": "file", "by": "agent", "text": content}))
    assert (said.author, said.kind) == ("file", "text")
    assert content.startswith(said.text)


def test_a_list_that_is_cut_has_no_half_steps() -> None:
    steps = [{"id": f"s{n}", "content": f"y{AWKWARD * 99}", "status": "", "priority": ""} for n in range(99)]
    said = is_cut_well(PlanMessage("m", "", {"id": "p", "kind": "items", "by": "agent", "steps": steps}))
    assert {(each.kind, each.text) for each in said} == {("step", f"y{AWKWARD * 99}")}
