"""The browser, for tests that have every face at once."""

from tests.web.conftest import browser, new_page

__all__ = ["browser", "new_page"]
