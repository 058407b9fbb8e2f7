"""Answers from elsewhere: a person decides about a plan, on the board for example, and the agent gets that answer.

The relay sits between the agent that asks and the client that shows the question. The first answer to arrive goes to
the agent. If that is not the client's, the client is told to take its question back; an answer that it gives anyway is
recorded and reported, but never passed on. A proxy must not answer for the client: only a person's own decision may.
"""

from collections.abc import Iterator, Mapping

from planwire.acp.conversation import value_of
from planwire.acp.permissions import selection
from planwire.model.events import APPROVED, CHANGES_REQUESTED, DISMISSED, PlanReviewed, Told
from planwire.model.records import ANSWER, Review
from planwire.model.text import in_quotes
from planwire.relay.actions import BY_AGENT, BY_CLIENT, BY_RELAY, Action, Record, ToAgent
from planwire.relay.envelope import FromClient
from planwire.relay.outbox import Outbox
from planwire.relay.questions import Question, Questions
from planwire.relay.wire_session import WireSession


class Answering:
    """The questions and answers on one connection."""

    def __init__(self, outbox: Outbox, questions: Questions, sessions: Mapping[str, WireSession]) -> None:
        self._outbox = outbox
        self._questions = questions
        self._sessions = sessions

    def ask(self, session: WireSession, request: object, line: bytes) -> Iterator[Action]:
        """The agent asks for a permission, which may be about a plan."""
        value = value_of(line)
        if value:
            current = session.questions.unasked(session.plans.current)
            question = self._questions.ask(request, value.get("params"), session.plans.plans, current)
            if question is not None:
                yield from session.hear_question(question)
            else:
                self._questions.leave(request, value.get("params"))

    def withdraw(self, line: bytes) -> Iterator[Action]:
        """The agent takes a request back. A question about a plan is over then, whatever the client answers."""
        match value_of(line):
            case {"params": {"requestId": int() | float() | str() as request}}:
                question = self._questions.close(request)
                if question is not None:
                    yield from self._sessions[question.session].hear_answer(question, None, BY_AGENT)

    def hear(self, line: bytes, message: FromClient) -> list[Action]:
        """The client answers a request of the agent's: in time, or too late."""
        if self._questions.is_late(message.id):
            result = value_of(message.result)
            late = self._questions.take_late(message.id, result)
            if late is not None:
                return [*self._hear_late(self._sessions[late.session], late, result)]
        question = self._questions.close(message.id)
        if question is None:
            return [ToAgent(line)]
        return [ToAgent(line), *self._sessions[question.session].hear_answer(question, value_of(message.result))]

    def lose_client(self) -> Iterator[Action]:
        """The client is gone, and the agent's input with it: nobody can answer any more."""
        for session in self._sessions.values():
            for question in self._questions.open_in(session.id):
                self._questions.close(question.request)
                yield from session.hear_answer(question, None)

    def decisions(self, session: WireSession) -> Iterator[tuple[Question, Review]]:
        """What people decided elsewhere about questions of a session that are still open."""
        plans = session.memory.state.plans if session.memory else {}
        for question in self._questions.open_in(session.id):
            record = plans.get(question.plan_id)
            decision = record.decision if record else None
            if record is None or decision is None or decision.question != question.id:
                continue
            is_outdated = decision.verdict == APPROVED and session.has_changed(record)
            if decision.option in question.options and not is_outdated:
                yield question, decision

    def is_open(self, question: Question) -> bool:
        """Whether a question is still unanswered."""
        return question in self._questions.open_in(question.session)

    def give(self, session: WireSession, question: Question, decision: Review) -> None:
        """Give the agent its answer, and have the client take its question back."""
        told = Told(ANSWER, 0, request=question.id)
        session.is_rejected |= decision.verdict == CHANGES_REQUESTED
        self._take_back(session, question, decision.option, Record(session.id, told, BY_RELAY))

    def cancel_all(self, session: WireSession) -> None:
        """Close a session's questions: a person stops the turn in which the agent asks them."""
        for question in self._questions.open_in(session.id):
            dismissed = PlanReviewed(question.plan_id, 0, DISMISSED, question=question.id)
            self._take_back(session, question, None, Record(session.id, dismissed, BY_RELAY))

    def _hear_late(self, session: WireSession, question: Question, result: object) -> Iterator[Record]:
        """Record and report the client's answer to a question already answered, unless it only takes the question
        back."""
        review = question.answered(result, late=True)
        if review.verdict == DISMISSED:
            return
        yield Record(session.id, review, BY_CLIENT)
        text = f"planwire: your answer {in_quotes(review.answer or '')} came too late: {_outcome(session, question)}."
        self._outbox.show_client(
            session.id,
            {
                "sessionUpdate": "agent_message_chunk",
                "content": {"type": "text", "text": f"\n\n{text}\n\n"},
                "messageId": f"planwire-{question.id}",
            },
        )

    def _take_back(self, session: WireSession, question: Question, option: str | None, record: Record) -> None:
        self._questions.overtake(question)
        session.questions.close(question)
        self._outbox.answer_agent(question.request, selection(option), record)
        self._outbox.notify_client("$/cancel_request", {"requestId": question.request})


def _outcome(session: WireSession, question: Question) -> str:
    """How a question ended before the client answered it, in words."""
    plans = session.memory.state.plans.values() if session.memory else ()
    given = (each for record in plans for each in record.reviews if each.question == question.id and not each.is_late)
    found = next((each for each in given if each.answer), None)
    return f"{found.by} has answered {in_quotes(found.answer or '')}" if found else "the turn was stopped"
