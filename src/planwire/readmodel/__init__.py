"""What faces show of a journal: its current sessions, their plan files, their past, and the reasons."""

__all__: list[str] = []
