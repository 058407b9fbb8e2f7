"""Examples of the commands that steer, for their help texts."""

from typing import Final

_SUGGESTED: Final = """
On an agent's own plan this is a suggestion: the agent sees it with your next prompt and decides.
"""
_HEARD: Final = """
The agent sees it with your next prompt, or at once if it is waiting for a review. With --now it hears it at once.
"""

#: By act.
EXAMPLES: Final = {
    "tick": f"""\
examples:
  planwire tick s3                 the step with that id, in the plan of this folder's latest session
  planwire tick 3                  the third step that planwire show prints
  planwire tick "write the test"   the step that contains these words
  planwire tick s3                 again: undo that, or withdraw the suggestion
{_SUGGESTED}""",
    "set_status": f"""\
examples:
  planwire status s3 in_progress
  planwire status s3 cancelled
{_SUGGESTED}""",
    "reword": f"""\
examples:
  planwire reword s3 "Write the parser, with tests"
{_SUGGESTED}""",
    "add": f"""\
examples:
  planwire add "Tell the users"                 at the end
  planwire add "Read the old code" --first      at the beginning
  planwire add "Test it" --after s3             right after a step
{_SUGGESTED}""",
    "move": f"""\
examples:
  planwire move s3 --up            one place up
  planwire move s3 --down 2        two places down
  planwire move s3 --after s5      right after another step
  planwire move s3 --first         to the beginning
{_SUGGESTED}""",
    "remove": f"""\
examples:
  planwire remove s3
{_SUGGESTED}""",
    "set_priority": f"""\
examples:
  planwire priority s3 high
{_SUGGESTED}""",
    "comment": f"""\
examples:
  planwire comment "do not touch the importer"       on the plan of this folder's latest session
  planwire comment --step s3 "use the old fixture"   on a step (planwire show prints the ids)
  planwire comment "why 14?" --quote "14 days"       on a passage of a proposal's text
  planwire comment --keep "small commits"            in force until you withdraw it, whatever the agent answers
  planwire comment --now "stop using tabs"           the agent hears it now; --interrupt if its turn must end for that

A comment on a step ends when the agent has seen it and the step is finished. planwire show says who has seen what.
{_HEARD}""",
    "review": f"""\
examples:
  planwire approve                                      shows the plan that an agent here asks about, and asks
  planwire approve 3f2a91bc --option "Yes, and manually approve edits"
                                                        with one of the agent's own answers (planwire show lists them)
  planwire approve --revision 17                        the plan you saw, and no other
  planwire approve --revision 17 --comment "go ahead"   with a comment
  planwire approve --changes --comment "smaller steps"  request changes instead; more comments may follow
  planwire approve --edit                               edit the plan in $VISUAL or $EDITOR, and approve that
  planwire approve --text-file plan.md                  approve it as the file has it

If the agent asks for your approval, this answers it, wherever else it is asked: whichever answer comes first counts.
Without --option it takes the agent's only option that approves this once, or asks you to choose. An edited plan is for
agents that take one with your answer: Claude Code in a terminal does, with planwire setup --review.
{_HEARD}""",
    "select": f"""\
examples:
  planwire select s1 s3                   shows the plan, and asks
  planwire select s1 s3 --revision 17     of the plan you saw
  planwire select 1 3 --yes               of the plan as it is now

The agent is told to run these steps, and no others for now. Completed and cancelled steps are left out. To end that,
select all open steps, or withdraw the selection.
{_HEARD}""",
    "tell": """\
examples:
  planwire tell "use the old fixture"     a comment on the plan, and the agent hears it now
  planwire tell                           it hears now what people said, and it has not heard
  planwire tell --interrupt "wait"        even if its turn must be cancelled for that

An idle agent gets a prompt. One that works hears it in the middle of its turn, if it can; if not, planwire asks you
before it cancels the turn. It needs planwire relay in front of the agent; without it, your words go with the next
prompt.
""",
    "stop": """\
examples:
  planwire stop                           shows the plan of this folder's latest session, and asks
  planwire stop 3f2a91bc --yes            another session, without asking

The agent's turn is cancelled, and a question that it asks is over. The session stays: prompt it, or tell it something.
""",
    "suggest": """\
examples:
  planwire edit                             the plan of this folder's latest session, in $VISUAL or $EDITOR
  planwire edit --plan main --note "why"    with a note for the agent
  planwire edit --editor "code --wait"      in an editor with a window of its own; works without a terminal

Changes that others make in the meantime are merged. On an agent's own plan your changes are suggestions: the agent
sees them with your next prompt and decides.
""",
    "withdraw": """\
examples:
  planwire withdraw                your verdict that is not sent yet; or else your newest open remark
  planwire withdraw r3             the one with that id, no matter whose (planwire show prints the ids)
  planwire withdraw r3 "done by hand"
""",
    "reopen": """\
examples:
  planwire reopen r3               a remark that is closed: the agent is told of it again (planwire show --all)
  planwire reopen                  the plan that ended or was dismissed last
  planwire reopen --plan old       another one

A proposal ends when it is rejected, replaced by a later one, or carried out. The agent is told of it no more.
""",
    "dismiss": """\
examples:
  planwire dismiss                 shows the plan, and asks
  planwire dismiss --plan old --yes

The plan disappears from every list. planwire show --plan still shows it, and an agent that sends it again restores it.
""",
}
