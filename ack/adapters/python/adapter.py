#!/usr/bin/env python3
"""A guard around an agent loop, for the conformance kit:

    guardc ack run -- python3 ack/adapters/python/adapter.py

Copy it, and put your framework's loop in place of `loop`. Guard decides in a process of its own (`guardc serve`);
this file carries out what it decides. Standard output belongs to the protocol: print to standard error.
"""
import json, os, pathlib, queue, shutil, subprocess, sys, tempfile, threading

CAPABILITIES = """tool_policies argument_checks unknown_tools denial_feedback outages streaming effects invariants budgets limits feedback
feedback_triggers deadline task_completion lifecycles attestation contracts approvals deferred_approvals native_tools trace restore"""


GUARDC = os.environ.get("GUARDC", "guardc")
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
    """The guard. Once it is gone, or silent for too long, every question to it is an error until it is started again."""

    def __init__(self):
        self.process = subprocess.Popen([GUARDC, "serve", "--durability", "off", "--key", str(folder / "key")],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        super().__init__(self.process.stdout, self.process.stdin, {"jsonrpc": "2.0"})
        self.lines, self.is_gone = queue.Queue(), False
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
        self.is_gone = not line
        return line

    def ask(self, method, **params):
        if self.is_gone:
            raise RuntimeError("the guard is gone")
        try:
            return super().ask(method, **params)
        except OSError as error:
            self.is_gone = True
            raise RuntimeError(f"the guard is gone: {error}") from None


folder = pathlib.Path(tempfile.mkdtemp(prefix="guard-adapter-"))
kit = Line(sys.stdin, sys.stdout, {})
guard = Sidecar()
sessions = {}  # by the kit's id: where its journal is kept
probes = {}  # by the same: the probes that are asked of us


def now():
    return kit.ask("clock.now")["now"]


def open_session(session, run, journal):
    known = {key: run[key] for key in ("source", "workspace", "data") if run.get(key) is not None}
    opened = guard.ask("session.open", session=session, journal=str(journal), now=run.get("now") or now(), **known)
    sessions[session], probes[session] = journal, opened["probes"]


def revive(run):
    """A guard that is gone is started again. It takes the session of a run up from its journal."""
    global guard
    if guard.is_gone:
        guard.process.kill()
        guard, session = Sidecar(), run["session"]
        # The other sessions are lost with the guard that had them.
        journals = {session: sessions[session]} if session in sessions else {}
        sessions.clear()
        for session, journal in journals.items():
            take_up(session, run, journal)


def take_up(session, run, journal):
    """Opens a session from its journal. The store is told which sessions it has."""
    subprocess.run([GUARDC, "trace", "repair", "--ledger", str(journal)], check=True, stdout=subprocess.DEVNULL)
    open_session(session, {**run, "data": None, "now": "1970-01-01T00:00:00Z"}, journal)


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
    method = {"prompt": "session.prompt", "verify": "item.verify", "move": "item.move", "approve": "call.approve", "resume": "session.resume"}[kind]
    tell(method, session, **event)


def assembled(turn):
    """A turn that was streamed, put together: each piece goes to the call whose number it has."""
    said, calls = "", {}
    for piece in turn.get("pieces", []):
        said += piece.get("say", "")
        if "at" in piece:
            call = calls.setdefault(piece["at"], {"call": "", "tool": "", "args": ""})
            for part in call:
                call[part] += piece.get(part, "")
    whole = [{**call, "args": json.loads(call["args"])} for call in calls.values()]
    return {**turn, "say": said, "calls": whole} if "pieces" in turn else turn


def loop(run):
    """The agent: the model's turn, its calls one after another, until it may stop."""
    session, messages = run["session"], []
    tools = {tool["name"] for tool in run["tools"] if "elsewhere" not in tool}
    revive(run)
    if session not in sessions:
        open_session(session, run, folder / f"journal-{len(list(folder.iterdir()))}")
    happened(session, {"event": "prompt", "text": run["prompt"]}, messages)
    while True:
        turn = assembled(kit.ask("model.next", messages=messages))
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
    end = {"ended": how.get(stop["bypassed"], "budget"), "output": turn.get("output"),
           "unguarded": [tool["name"] for tool in run["tools"] if "elsewhere" in tool]}
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
    take_up(session, params, journal)


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
    guard.process.stdin.close()
    shutil.rmtree(folder, ignore_errors=True)
