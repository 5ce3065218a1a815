"""One guarded session behind `guardc serve`, as the replays use it."""

import json
import subprocess
import sys


class Sidecar:
    """A `guardc serve` process."""

    def __init__(self, guardc):
        self.process = subprocess.Popen(
            [guardc, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.asked = 0

    def ask(self, method, **params):
        """Asks a method and returns its result. An error ends the replay: a figure would be wrong."""
        self.asked += 1
        request = {"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.asked:
                if "error" in answer:
                    sys.exit(f"{method}: {json.dumps(answer['error'])[:500]}")
                return answer["result"]
        sys.exit(f"the sidecar ended during {method}")

    def close(self):
        """Ends the process."""
        self.process.stdin.close()
        self.process.wait(20)


class Session:
    """One session of a guard. It counts what was asked, and keeps what was refused."""

    def __init__(self, sidecar, guard, prompt=None, now=None):
        self.sidecar, self.calls, self.now = sidecar, 0, {"now": now} if now else {}
        self.refused, self.asks, self.notes = [], [], []
        opened = sidecar.ask("session.open", plan=str(guard), **self.now)
        self.session = opened["session"]
        if prompt is not None:
            sidecar.ask("session.prompt", session=self.session, text=prompt, **self.now)

    def call(self, tool, args, execute, attended):
        """Proposes a call, runs it if it is allowed, and settles it. `attended`: a person grants every approval.

        `execute` returns the result as JSON, or raises; then the call has failed. Returns true if the call ran and succeeded.
        """
        self.calls += 1
        call = {"session": self.session, "call": f"c{self.calls}", **self.now}
        about = {"tool": tool, "args": args}
        decided = self.sidecar.ask("call.propose", **call, **about)
        if decided["verdict"] == "ask":
            self.asks.append((tool, args, decided["message"]))
            if attended:
                reasons = [reason for reason in decided["reasons"] if reason["decision"] == "ask"]
                for role in sorted({need for reason in reasons for need in reason["needs"]}):
                    self.sidecar.ask(
                        "call.approve", session=self.session, role=role, by="a person", **about, **self.now
                    )
                decided = self.sidecar.ask("call.propose", **call, **about)
        if decided["verdict"] != "allow":
            self.refused.append((tool, args, decided["verdict"], decided["message"]))
            return False
        if "served" in decided:
            return True
        try:
            outcome, result = "success", execute()
        except Exception as error:  # Whatever a benchmark's tool raises, the call has failed.
            outcome, result = "failure", str(error)
        settled = self.sidecar.ask("call.settle", **call, outcome=outcome, result=result)
        if settled["notes"] or settled["halted"]:
            self.notes.append((tool, settled["notes"], settled["halted"]))
        return outcome == "success"

    def decide(self, tool, args):
        """The verdict about a call that then does not run."""
        self.calls += 1
        call = {"session": self.session, "call": f"c{self.calls}", **self.now}
        decided = self.sidecar.ask("call.propose", tool=tool, args=args, **call)
        if decided["verdict"] == "allow":
            self.sidecar.ask("call.settle", outcome="failure", result="not run", **call)
        return decided

    def close(self):
        """Closes the session."""
        self.sidecar.ask("session.close", session=self.session)
