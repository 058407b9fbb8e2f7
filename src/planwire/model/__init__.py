"""What a plan is, what can happen to it, and what follows from that. Pure values and functions."""

__all__: list[str] = []
