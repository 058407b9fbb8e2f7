"""A journal in a file of SQLite, the default: one machine, any number of processes."""

__all__: list[str] = []
