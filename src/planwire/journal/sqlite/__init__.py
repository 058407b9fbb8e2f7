"""A journal in a SQLite file, the default: for one machine and any number of processes."""

__all__: list[str] = []
