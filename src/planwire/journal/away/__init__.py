"""Working on while the server of a journal is away."""

__all__: list[str] = []
