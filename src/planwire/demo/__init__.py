"""What `planwire demo` runs: a small agent behind the real relay, a client that drives it, and a view of its plans."""

__all__: list[str] = []
