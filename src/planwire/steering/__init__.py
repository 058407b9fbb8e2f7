"""What people do to plans."""

__all__: list[str] = []
