"""Guards as Python sees them."""

import os

from ._engine import EngineGuard
from ._session import Session


class Guard(EngineGuard):
    """A guard that is ready to decide. Threads and sessions share it.

    Make one with `Guard.load`, `Guard.compile` or `Guard.from_plan`.
    """

    @classmethod
    def load(cls, path):
        """Loads a guard or a compiled plan from a file, whichever it is.

        Raises `SourceError`, whose text has every error of the guard as `guardc check` prints it.
        """
        return cls(path=os.fspath(path))

    @classmethod
    def compile(cls, text, *, path="guard.guard"):
        """Compiles the text of a guard. Files that it uses are found relative to `path`, which need not exist.

        Raises `SourceError`.
        """
        return cls(text=text, path=os.fspath(path))

    @classmethod
    def from_plan(cls, plan):
        """Loads the bytes that `guardc compile` or `plan_bytes` wrote. Raises `SourceError`."""
        return cls(plan=plan)

    def session(self, id=None, **options):
        """Begins a session, or resumes the one with this id in its store. `Session` lists the options.

        Raises `SessionError`.
        """
        return Session(self, os.urandom(8).hex() if id is None else id, **options)

    def __reduce__(self):
        return (_from_plan, (type(self), self.plan_bytes()))


def _from_plan(cls, plan):
    return cls(plan=plan)
