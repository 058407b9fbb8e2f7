"""A journal in a PostgreSQL database, for any number of machines."""

__all__: list[str] = []
