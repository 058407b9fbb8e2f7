"""planwire inside other people's packages: one file a package, imported only by those who have it."""

__all__: list[str] = []
