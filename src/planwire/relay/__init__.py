"""The relay: on stdio between any ACP client and any ACP agent.

`policy` decides and `history` knows what is news, both without any I/O; `recorder` has the journal, `pump` the pipes.
"""

__all__: list[str] = []
