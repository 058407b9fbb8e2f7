"""Why a plan is as it is, from the words around it."""

from planwire import ItemsPlan
from planwire.journal import Journal, Stamped, load_state
from planwire.model.events import MessageAdded, PlanSet
from planwire.readmodel.rationale import Reasons


def test_a_session_with_the_name_of_a_forgotten_one_has_reasons_of_its_own(journal: Journal) -> None:
    reasons = Reasons(journal)
    for at, words in ((1, "the old reason"), (2, "the new reason")):
        message = MessageAdded({"role": "assistant", "content": words})
        journal.append("s", [Stamped(at, "agent", message), Stamped(at, "agent", PlanSet(ItemsPlan("p", ())))])
        assert reasons.of(load_state(journal, "s")) == {"p": words}
        journal.forget("s")
