"""Differences of plans, recordings and texts in pieces, as values for every face."""

from planwire import Board, MarkdownPlan, track
from planwire.cli.recording import RecordedLine
from planwire.readmodel.card import StepRow
from planwire.readmodel.cards import cards_of, changed_plans
from planwire.readmodel.differences import changed_steps, differences
from planwire.readmodel.replay import replayed
from planwire.readmodel.text_pieces import TextPiece, text_pieces


def line(update: str) -> bytes:
    params = f'{{"sessionId":"s","update":{update}}}'
    return f'{{"jsonrpc":"2.0","method":"session/update","params":{params}}}'.encode()


def text(content: str) -> bytes:
    return line(f'{{"sessionUpdate":"plan_update","plan":{{"type":"markdown","planId":"p","content":"{content}"}}}}')


BEFORE = text("# Parser\\n\\nOld.\\n\\n- [ ] lexer\\n- [ ] grammar\\n- [ ] macros")
AFTER = text("# Parser\\n\\nNew.\\n\\n- [x] lexer\\n- [ ] the whole grammar\\n- [ ] tests")
TITLES: dict[str | None, str] = {"p": "Parser"}


def test_a_difference_names_the_steps_and_the_lines_that_differ() -> None:
    board = Board()
    [new] = differences(board.apply(BEFORE).plans, TITLES)
    assert (new.title, new.what, new.size) == ("Parser", "new", "a text of 54 characters")
    assert [(each.kind, each.row.text) for each in new.steps] == [
        ("added", "lexer"),
        ("added", "grammar"),
        ("added", "macros"),
    ]
    change = board.apply(AFTER)
    [changed] = differences(change.plans, TITLES)
    assert changed.progress is not None
    assert (changed.what, changed.progress.done, changed.text) == ("changed", 1, ("-Old.", "+New."))
    found = {(each.kind, each.row.id, each.before, each.after) for each in changed.steps}
    assert {("status", "s1", "to do", "done"), ("reworded", "s2", "grammar", "the whole grammar")} <= found
    assert changed_steps(change) >= {"s1", "s2"}
    [removed] = differences(board.apply(line('{"sessionUpdate":"plan_removed","planId":"p"}')).plans, TITLES)
    assert (removed.what, removed.progress, removed.steps) == ("removed", None, ())


def test_a_plan_goes_by_the_title_that_it_has_among_all_plans_of_its_session() -> None:
    items = '{{"sessionUpdate":"plan_update","plan":{{"type":"items","planId":"{}","entries":[]}}}}'
    ids = ("0198f3c2-7b1e-7cc3-98c4-dc0c0c07398f", "0199f3c2-7b1e-7cc3-98c4-dc0c0c07398f")
    lines = [RecordedLine(number, line(items.format(plan)), "agent") for number, plan in enumerate(ids)]
    assert [[each.title for each in frame.differences] for frame in replayed(lines)] == [["Plan"], ["Plan 2"], []]


def test_a_recording_is_a_frame_a_line_and_one_for_its_end() -> None:
    said = line('{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"on\\nit"}}')
    lines = [RecordedLine(1, BEFORE, "agent", 0.5), RecordedLine(2, said, "agent"), RecordedLine(3, b"{", "agent")]
    frames = list(replayed(lines))
    assert [(frame.number, frame.at, bool(frame.change), frame.said) for frame in frames] == [
        (1, 0.5, True, ""),
        (2, None, False, "on it"),
        (3, None, False, ""),
        (3, None, False, ""),
    ]
    assert frames[2].reports
    assert [session.id for session in frames[-1].sessions] == ["s"]


def test_a_text_is_prose_and_steps_in_its_order_without_the_heading_that_is_its_title() -> None:
    content = "# Parser\n\nThe old one.\n\n- [x] lexer\n  - [ ] numbers\n\n    Hard.\n- [ ] grammar\n\nRisks.\n"
    [card] = cards_of(track(MarkdownPlan("p", content)))
    pieces = [each.text if isinstance(each, StepRow) else each for each in text_pieces(card)]
    assert [each for each in pieces if isinstance(each, str) or each.text.strip()] == [
        TextPiece("The old one.\n"),
        "lexer",
        "numbers",
        TextPiece("Hard.", 2),
        "grammar",
        TextPiece("\nRisks.\n"),
    ]


def test_a_change_of_some_plans_leaves_the_others() -> None:
    board = Board()
    plans = changed_plans({}, board.apply(BEFORE))
    plans = changed_plans(plans, board.apply(AFTER.replace(b'"p"', b'"q"')))
    assert list(plans) == ["p", "q"]
    removed = board.apply(line('{"sessionUpdate":"plan_removed","planId":"p"}'))
    assert list(changed_plans(plans, removed)) == ["q"]
