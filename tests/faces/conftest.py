"""The browser, for tests that have every face at once."""

from tests.web.conftest import browser, looked_at, new_page

__all__ = ["browser", "looked_at", "new_page"]
