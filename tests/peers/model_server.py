"""planwire's scripted model, for tests: they wait for requests, and hear of what went wrong."""

from types import TracebackType

from planwire.cli import scripted_model
from planwire.cli.scripted_model import SUMMARY_ASKED, beside_the_work, fitting_answer

__all__ = ["SUMMARY_ASKED", "ScriptedModel", "beside_the_work", "fitting_answer"]


class ScriptedModel(scripted_model.ScriptedModel):
    """A scripted model that raises at its end what a step raised."""

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, problem, trace)
        if self.problems and problem is None:
            raise self.problems[0]

    def wait_for_requests(self, count: int, patience: float = 30.0) -> None:
        """Wait until this many requests have come."""
        with self._changed:
            came = self._changed.wait_for(lambda: len(self.requests) >= count, patience)
        assert came, f"{len(self.requests)} requests in {patience:g} s, and not {count}"

    def wait_for_main(self, count: int, patience: float = 30.0) -> None:
        """Wait until the script was asked for this many steps."""
        with self._changed:
            came = self._changed.wait_for(lambda: len(self.main) >= count, patience)
        assert came, f"{len(self.main)} main requests in {patience:g} s, and not {count}"
