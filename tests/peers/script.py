"""The words of a script, which are the product's, by short names."""

from planwire.check.script import ModelCall as Call
from planwire.check.script import ModelRequest as Request
from planwire.check.script import ModelTurn as Turn
from planwire.check.script import ScriptStep as Step
from planwire.check.script import Usage, call, say

__all__ = ["Call", "Request", "Step", "Turn", "Usage", "call", "say"]
