"""The relay: on stdio between any ACP client and any ACP agent.

`policy` decides and `dedupe` knows what is news, both without any I/O; `recorder` has the journal, `traffic` the pipes.
"""

__all__: list[str] = []
