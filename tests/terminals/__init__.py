"""Agents in their own terminals, as people run them, on scripted models."""
