"""What faces show of a journal: its sessions now, their plan files, their past, and the reasons."""

__all__: list[str] = []
