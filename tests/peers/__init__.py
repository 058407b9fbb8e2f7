"""Real agents and clients, run offline: a scripted model, how each peer is installed and started, and a bare client."""
