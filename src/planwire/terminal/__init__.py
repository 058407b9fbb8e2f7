"""Plans in the terminal: printed by commands with Rich, live in an app with Textual."""

from planwire.errors import MissingExtra

try:
    import rich  # noqa: F401
except ImportError:
    raise MissingExtra("showing plans needs Rich: pip install 'planwire[terminal]', or use --json") from None

__all__: list[str] = []
