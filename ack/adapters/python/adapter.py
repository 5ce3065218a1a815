#!/usr/bin/env python3
"""A guard around an agent loop, for the conformance kit:

    guardc ack run -- python3 ack/adapters/python/adapter.py

Copy it, and put your framework's loop in place of `loop`. Guard decides in a process of its own (`guardc serve`);
this file carries out what it decides. Standard output belongs to the protocol: print to standard error.
"""
import json, os, pathlib, queue, subprocess, sys, tempfile, threading, traceback

CAPABILITIES = """tool_policies argument_checks unknown_tools denial_feedback outages streaming concurrent_runs effects invariants budgets limits host_reports
feedback feedback_triggers deadline task_completion lifecycles attestation contracts approvals deferred_approvals native_tools trace restore replay"""


GUARDC = os.environ.get("GUARDC", "guardc")
#: How long the guard may take to answer, in seconds. A guard that does not answer allows nothing.
PATIENCE = 3


class Refused(RuntimeError):
    """An answer that is an error, with its code where it has one."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code = (error.get("data") or {}).get("code")


class Line:
    """JSON lines to somebody and back. Somebody else reads the answers, so that every thread may ask."""

    def __init__(self, writer, patience, **extra):
        self.writer, self.patience, self.extra = writer, patience, extra
        self.lock, self.asked, self.waiting = threading.Lock(), 0, {}

    def say(self, message):
        with self.lock:
            self.writer.write(json.dumps(message) + "\n")
            self.writer.flush()

    def ask(self, method, **params):
        answers = queue.Queue()
        with self.lock:
            self.asked += 1
            question = f"a{self.asked}"
            self.waiting[question] = answers
        self.say({**self.extra, "id": question, "method": method, "params": params})
        answer = answers.get(timeout=self.patience)
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["result"]

    def hear(self, message):
        self.waiting.pop(message["id"]).put(message)


class Sidecar(Line):
    """The guard. A question that it does not answer is an error, and the next run starts another guard."""

    def __init__(self):
        self.process = subprocess.Popen([GUARDC, "serve", "--durability", "off", "--key", str(folder / "key")],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        super().__init__(self.process.stdin, PATIENCE, jsonrpc="2.0")
        self.probes = {}  # by the session that it has open: the probes that are asked of us
        self.is_gone = False
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        for line in self.process.stdout:
            self.hear(json.loads(line))

    def ask(self, method, **params):
        try:
            return super().ask(method, **params)
        except (OSError, queue.Empty):
            self.is_gone = True
            raise RuntimeError("the guard does not answer") from None


class Kept:
    """What is kept of a session: the folder of its journal, and the calls that ran and whose settlement the guard did not take."""

    def __init__(self, place):
        self.place, self.unsettled = place, []


# The kit removes the temporary folder of an adapter.
folder = pathlib.Path(tempfile.mkdtemp(prefix="guard-adapter-"))
kit = Line(sys.stdout, None)
guard = Sidecar()
kept = {}  # by the kit's id of a session


def now(session):
    return kit.ask("clock.now", session=session)["now"]


def open_session(session, run, place):
    """Opens a session that keeps its journal in a folder."""
    known = {key: run[key] for key in ("source", "workspace", "data") if run.get(key) is not None}
    opened = guard.ask("session.open", session=session, journal=place, now=run.get("now") or now(session), **known)
    guard.probes[session] = opened["probes"]


def enter(session, run):
    """Opens the session of a run, and settles what an earlier run could not."""
    find(session, run)
    late = kept[session].unsettled
    while late:
        settle(session, **late[0])
        late.pop(0)


def settle(session, **ended):
    try:
        return tell("call.settle", session, **ended)
    except Refused as error:
        if error.code != "no_such_call":  # The guard took the settlement, and its answer was lost.
            raise


def find(session, run):
    """Opens the session of a run where the guard does not have it: a new one, or from its journal where a guard is gone that had it."""
    global guard
    if guard.is_gone:
        guard.process.kill()
        guard = Sidecar()
    if session in guard.probes:
        return
    if session in kept:
        take_up(session, run)
        return
    place = tempfile.mkdtemp(dir=folder)
    open_session(session, run, place)
    kept[session] = Kept(place)


def take_up(session, run):
    """Opens a session from its journal. The store is told which sessions it has."""
    place = kept[session].place
    subprocess.run([GUARDC, "trace", "repair", "--ledger", place], check=True, stdout=subprocess.DEVNULL)
    open_session(session, {**run, "data": None, "now": "1970-01-01T00:00:00Z"}, place)


def tell(method, session, **event):
    """Something happened: the guard is told, with the time and what its probes would find."""
    answers = {name: kit.ask("probe.read", session=session, name=name).get("answer") for name in guard.probes[session]}
    return guard.ask(method, session=session, now=now(session), **event, **({"probes": answers} if answers else {}))


def journal(session):
    return pathlib.Path(kept[session].place, f"{session}.jsonl")


def trace(session):
    return journal(session).read_text(encoding="utf-8").splitlines()


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
        done = kit.ask("tool.execute", session=session, **call)
    else:
        done = {"outcome": "failure", "result": f"there is no tool `{call['tool']}`"}
    ended = {"call": call["call"], "outcome": done["outcome"], "result": done["result"]}
    try:
        settled = tell("call.settle", session, **ended)
    except RuntimeError:
        kept[session].unsettled.append(ended)
        raise
    if done.get("failure") == "cancelled":
        raise Cancelled
    result = settled.get("shown", done["result"])  # What the guard shows in its place is all that the model may read.
    text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    return joined(text if done["outcome"] == "success" else f"error: {text}", settled["rendered"])


def approve(session, call, role):
    answer = kit.ask("approval.request", session=session, role=role, **call)
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
    method = {"prompt": "session.prompt", "verify": "item.verify", "move": "item.move", "approve": "call.approve", "revoke": "call.revoke", "resume": "session.resume"}[kind]
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
    enter(session, run)
    happened(session, {"event": "prompt", "text": run["prompt"]}, messages)
    while True:
        turn = assembled(kit.ask("model.next", session=session, messages=messages))
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
    kept.pop(session, None)
    if guard.probes.pop(session, None) is not None:
        guard.ask("session.close", session=session)


def hello(params):
    return {"name": "python-sample", "version": "1", "reusable": True, "capabilities": {name: True for name in CAPABILITIES.split()}}


def snapshot(params):
    return {"snapshot": trace(params["session"])}


def restore(params):
    """A session is its journal: written to a new folder, from which the next run takes it up."""
    session = params["session"]
    forget(session)
    kept[session] = Kept(tempfile.mkdtemp(dir=folder))
    journal(session).write_text("".join(line + "\n" for line in params["snapshot"]), encoding="utf-8")


def reset(params):
    """Forgets a session; without one everything, before the next case of the kit."""
    for session in [params["session"]] if "session" in params else list(kept):
        forget(session)


def replay(params):
    """A trace is decided again by a command. Reasons hold the name of the guard's file, which is this one in a sidecar."""
    place = pathlib.Path(tempfile.mkdtemp(dir=folder))
    records, source = place / "trace.jsonl", place / "source.guard"
    records.write_text("".join(line + "\n" for line in params["trace"]), encoding="utf-8")
    source.write_text(params["source"], encoding="utf-8")
    command = [GUARDC, "replay", records, "--plan", source, "--key", folder / "key", "--format", "json"]
    said = subprocess.run(command, capture_output=True, encoding="utf-8")
    if said.returncode == 0:
        return {"agrees": True}
    report = json.loads(said.stdout)
    # A record that the session cannot have is no difference, but a failure at its line.
    at = report["differences"][0]["seq"] if report["differences"] else report["failures"][0]["line"] - 1
    return {"agrees": False, "at": at}


METHODS = {"hello": hello, "run": loop, "snapshot": snapshot, "restore": restore, "reset": reset, "replay": replay}


def serve(request):
    try:
        kit.say({"id": request["id"], "result": METHODS[request["method"]](request["params"]) or {}})
    except Exception as error:
        traceback.print_exc()
        kit.say({"id": request["id"], "error": {"message": f"{type(error).__name__}: {error}"}})


for line in sys.stdin:
    message = json.loads(line)
    if "method" in message:
        # A run may begin while another goes on.
        threading.Thread(target=serve, args=(message,), daemon=True).start()
    else:
        kit.hear(message)
# What the guard has answered is in its journals. One that hangs would stay.
guard.process.kill()
