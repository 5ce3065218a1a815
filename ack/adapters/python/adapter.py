#!/usr/bin/env python3
"""A guard around an agent loop, for the conformance kit:

    guardc ack run -- python3 ack/adapters/python/adapter.py

Copy it, and put your framework's loop in place of `loop`. Guard decides in a process of its own (`guardc serve`);
this file carries out what it decides. Standard output belongs to the protocol: print to standard error.
"""
import json, os, pathlib, queue, shutil, subprocess, sys, tempfile, threading

CAPABILITIES = """tool_policies argument_checks unknown_tools denial_feedback outages effects invariants budgets limits feedback
feedback_triggers deadline task_completion lifecycles attestation contracts approvals native_tools trace restore"""


#: How long the guard may take to answer, in seconds. A guard that does not answer allows nothing.
PATIENCE = 5


class Refused(RuntimeError):
    """An answer that is an error, with its code where it has one."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code = (error.get("data") or {}).get("code")


class Line:
    """JSON lines to somebody and back; one question at a time."""

    def __init__(self, reader, writer, extra):
        self.reader, self.writer, self.extra, self.asked = reader, writer, extra, 0

    def read(self):
        return self.reader.readline()

    def say(self, message):
        self.writer.write(json.dumps(message) + "\n")
        self.writer.flush()

    def ask(self, method, **params):
        self.asked += 1
        self.say({**self.extra, "id": f"a{self.asked}", "method": method, "params": params})
        answer = json.loads(self.read() or '{"error": {"message": "nobody answers"}}')
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["result"]


class Sidecar(Line):
    """The guard. Once it is gone, or silent for too long, every question to it is an error."""

    def __init__(self, process):
        super().__init__(process.stdout, process.stdin, {"jsonrpc": "2.0"})
        self.lines = queue.Queue()
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        for line in self.reader:
            self.lines.put(line)
        self.lines.put("")

    def read(self):
        try:
            line = self.lines.get(timeout=PATIENCE)
        except queue.Empty:
            line = ""
        if not line:
            self.lines.put("")  # It stays so.
        return line

    def ask(self, method, **params):
        try:
            return super().ask(method, **params)
        except OSError as error:
            raise RuntimeError(f"the guard is gone: {error}") from None


folder = pathlib.Path(tempfile.mkdtemp(prefix="guard-adapter-"))
kit = Line(sys.stdin, sys.stdout, {})
server = subprocess.Popen([os.environ.get("GUARDC", "guardc"), "serve", "--durability", "off", "--key", str(folder / "key")],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
guard = Sidecar(server)
sessions = {}  # by the kit's id: where its journal is kept
probes = {}  # by the same: the probes that are asked of us


def now():
    return kit.ask("clock.now")["now"]


def open_session(session, run, journal):
    known = {key: run[key] for key in ("source", "workspace", "data") if run.get(key) is not None}
    opened = guard.ask("session.open", session=session, journal=str(journal), now=run.get("now") or now(), **known)
    sessions[session], probes[session] = journal, opened["probes"]


def tell(method, session, **event):
    """Something happened: the guard is told, with the time and what its probes would find."""
    answers = {name: kit.ask("probe.read", name=name).get("answer") for name in probes[session]}
    answers = {name: answer for name, answer in answers.items() if answer is not None}
    return guard.ask(method, session=session, now=now(), **event, **({"probes": answers} if answers else {}))


def trace(session):
    return (sessions[session] / f"{session}.jsonl").read_text(encoding="utf-8").splitlines()


class Cancelled(Exception):
    """The run was cancelled while a tool ran."""


def around(session, call, tools):
    """The gate around one tool: what the model reads as the answer."""
    asked = False
    while True:
        said = tell("call.propose", session, **call)
        if said["verdict"] == "ask" and not asked:
            asked = True
            roles = sorted({role for reason in said["reasons"] if reason["code"] == "approval" for role in reason["needs"]})
            if all(approve(session, call, role) for role in roles):
                continue  # it is put to the guard again
        if said["verdict"] != "allow":
            return joined(said["message"], said["rendered"])
        break
    if "served" in said:  # by the guard itself: there is nothing to run
        return joined(json.dumps(said["served"]["result"]), said["rendered"])
    if call["tool"] in tools:
        done = kit.ask("tool.execute", **call)
    else:
        done = {"outcome": "failure", "result": f"there is no tool `{call['tool']}`"}
    settled = tell("call.settle", session, call=call["call"], outcome=done["outcome"], result=done["result"])
    if done.get("failure") == "cancelled":
        raise Cancelled
    text = done["result"] if isinstance(done["result"], str) else json.dumps(done["result"], ensure_ascii=False)
    return joined(text if done["outcome"] == "success" else f"error: {text}", settled["rendered"])


def approve(session, call, role):
    answer = kit.ask("approval.request", role=role, **call)
    if answer["granted"]:
        until = {"expires": answer["expires"]} if answer.get("expires") else {}
        tell("call.approve", session, tool=call["tool"], args=call["args"], role=role, by=answer["by"], **until)
    return answer["granted"]


def joined(*texts):
    return "\n\n".join(text for text in texts if text)


def use(session, unit, amount):
    """The use of the model: a guard that charges nothing for it says so, and that is all."""
    try:
        tell("session.usage", session, unit=unit, amount=amount)
    except Refused as error:
        if error.code != "not_host_charged":
            raise


def happened(session, event, messages):
    """What happened outside of the loop, told to the guard."""
    kind = event.pop("event")
    if kind == "prompt":
        messages.append({"role": "user", "text": event["text"]})
    method = {"prompt": "session.prompt", "verify": "item.verify", "move": "item.move", "resume": "session.resume"}[kind]
    tell(method, session, **event)


def loop(run):
    """The agent: the model's turn, its calls one after another, until it may stop."""
    session, messages = run["session"], []
    tools = {tool["name"] for tool in run["tools"]}
    if session not in sessions:
        open_session(session, run, folder / f"journal-{len(list(folder.iterdir()))}")
    happened(session, {"event": "prompt", "text": run["prompt"]}, messages)
    while True:
        turn = kit.ask("model.next", messages=messages)
        for event in turn.get("host", []):
            happened(session, event, messages)
        for unit, amount in turn.get("usage", {}).items():
            use(session, unit, amount)
        calls = turn.get("calls", [])
        messages.append({"role": "assistant", "text": turn.get("say") or turn.get("output") or "", "calls": calls})
        for number, call in enumerate(calls):
            # Calls are judged one after another, so that two with one id are two; one without an id is given one.
            call["call"] = call["call"] or f"nameless-{len(messages)}-{number}"
            try:
                messages.append({"role": "tool", "call": call["call"], "text": around(session, call, tools)})
            except Cancelled:
                return {"ended": "cancelled", "trace": trace(session)}
        if turn.get("stop"):
            stop = tell("session.stop", session, reason=turn["finish_reason"])
            if stop["decision"] == "allow":
                return ended(run, turn, stop)
            messages.append({"role": "user", "text": stop["message"]})


def ended(run, turn, stop):
    how = {None: "incomplete" if stop["incomplete"] else "stopped", "deadline": "deadline", "halted": "halted"}
    end = {"ended": how.get(stop["bypassed"], "budget"), "output": turn.get("output")}
    if run.get("contract") and turn.get("output") is not None:
        end["report"] = guard.ask("contract.check", session=run["session"], contract=run["contract"],
                                  text=turn["output"], finish_reason=turn["finish_reason"])
    return {**end, "trace": trace(run["session"])}


def forget(session):
    if sessions.pop(session, None):
        guard.ask("session.close", session=session)


def restore(params):
    """A session is its journal: written to a new folder, and taken up there."""
    session = params["session"]
    forget(session)
    journal = folder / f"journal-{len(list(folder.iterdir()))}"
    journal.mkdir()
    (journal / f"{session}.jsonl").write_text("".join(line + "\n" for line in params["snapshot"]), encoding="utf-8")
    # The store is told which sessions it has.
    subprocess.run([server.args[0], "trace", "repair", "--ledger", str(journal)], check=True, stdout=subprocess.DEVNULL)
    open_session(session, {**params, "data": None, "now": "1970-01-01T00:00:00Z"}, journal)


def answer(method, params):
    if method == "hello":
        return {"name": "python-sample", "version": "1", "reusable": True, "capabilities": {name: True for name in CAPABILITIES.split()}}
    if method == "run":
        return loop(params)
    if method == "snapshot":
        return {"snapshot": trace(params["session"])}
    if method == "restore":
        restore(params)
        return {}
    if method == "reset":  # Without a session: everything, before the next case of the kit.
        for session in [params["session"]] if "session" in params else list(sessions):
            forget(session)
        return {}
    raise RuntimeError(f"there is no method `{method}`")


try:
    for line in sys.stdin:
        request = json.loads(line)
        try:
            kit.say({"id": request["id"], "result": answer(request["method"], request["params"])})
        except RuntimeError as error:
            kit.say({"id": request["id"], "error": {"message": str(error)}})
finally:
    server.stdin.close()
    shutil.rmtree(folder, ignore_errors=True)
