"""A journal in a stream of NATS JetStream: any number of machines."""

__all__: list[str] = []
