"""The Agent Client Protocol's plan messages, in every dialect, without any I/O."""

from planwire.acp.conversation import AGENT, CLIENT, Conversation
from planwire.acp.dialects import DIALECTS, V1, V1_DRAFT, V1_RFD, V2, Dialect, dialect, negotiate
from planwire.acp.lower import Fallback
from planwire.acp.messages import Envelope, Extension, Message, Reading, Removal, Report, Update
from planwire.acp.read import read
from planwire.acp.translate import Translator
from planwire.acp.write import update_fields, write, write_update

__all__ = [
    "AGENT",
    "CLIENT",
    "DIALECTS",
    "V1",
    "V1_DRAFT",
    "V1_RFD",
    "V2",
    "Conversation",
    "Dialect",
    "Envelope",
    "Extension",
    "Fallback",
    "Message",
    "Reading",
    "Removal",
    "Report",
    "Translator",
    "Update",
    "dialect",
    "negotiate",
    "read",
    "update_fields",
    "write",
    "write_update",
]
