"""Plans in the terminal: printed by commands with Rich, live in an app with Textual."""

from planwire.extras import missing_extra

try:
    import rich  # noqa: F401
except ImportError as error:
    raise missing_extra("showing plans", "rich", error, ", or use --json") from error

__all__: list[str] = []
