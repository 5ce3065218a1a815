"""A call that waits for a person, as a value: pickle it, write it as JSON, propose it again in another process."""

import json


class PendingApproval:
    """A call that needs an approval. It keeps the session, the id of the call, the tool and the exact arguments."""

    __slots__ = ("session", "call", "tool", "args_text", "roles", "message", "request")

    def __init__(self, session, call, tool, args_text, roles, message, request=None):
        self.session = session
        self.call = call
        self.tool = tool
        self.args_text = args_text
        self.roles = tuple(roles)
        self.message = message
        self.request = request

    @classmethod
    def of_verdict(cls, session_id, verdict):
        """The pending approval of an `ask` verdict."""
        roles = {
            role for reason in verdict.reasons if reason.code in ("approval", "gated") for role in reason.needs
        }
        return cls(
            session_id, verdict.call, verdict.tool, verdict.args_text, sorted(roles), verdict.message, verdict.request
        )

    @property
    def args(self):
        """The arguments, as Python objects."""
        return json.loads(self.args_text)

    def to_json(self):
        """The value as JSON text."""
        return json.dumps({name: getattr(self, name) for name in self.__slots__}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text):
        """The value that `to_json` wrote."""
        members = json.loads(text)
        return cls(**{name: members[name] for name in cls.__slots__})

    def _key(self):
        return tuple(getattr(self, name) for name in self.__slots__)

    def __eq__(self, other):
        return isinstance(other, PendingApproval) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __reduce__(self):
        return (PendingApproval, self._key())

    def __repr__(self):
        return f"<PendingApproval {self.tool} by {', '.join(self.roles) or 'anybody'}>"
