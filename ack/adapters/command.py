"""What the adapters around real commands share: the commands and their clock, the store of a session, the people who approve,
traces and replays. The commands are as users have them; nothing in them knows of the kit.
"""
import datetime, json, os, pathlib, secrets, shutil, subprocess, tempfile, threading

from line import assembled, kit, now

GUARDC = os.environ.get("GUARDC", "guardc")
#: How long a command may take, in seconds.
PATIENCE = 30
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)

# The kit removes the temporary folder of an adapter.
folder = pathlib.Path(tempfile.mkdtemp(prefix="guard-adapter-"))
sessions = {}  # by the kit's id
plans = {}  # by their source


def build_clock():
    """Compiles the clock that the commands are given."""
    built = folder / "clock.so"
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", built, pathlib.Path(__file__).parent / "clock.c", "-ldl"], check=True)
    return built


class Blocked(Exception):
    """What a hook refused, and why."""


class Cancelled(Exception):
    """The run was cancelled while a tool ran."""


class Session:
    """A session of the kit: its store, its guard, and the clock of the commands that open it."""

    def __init__(self, name):
        self.name, self.place = name, pathlib.Path(tempfile.mkdtemp(dir=folder))
        self.store, self.clock, self.plan = self.place / "store", self.place / "clock", self.place / "session.plan"
        self.env = {**os.environ, "LD_PRELOAD": str(CLOCK), "GUARD_ACK_CLOCK": str(self.clock)}
        self.lock = threading.Lock()
        self.journal = self.store / f"{name}.jsonl"
        self.store.mkdir()
        shutil.copy(KEY, self.store / ".key")

    def tell_time(self):
        """Sets the clock to the kit's time."""
        with self.lock:  # Calls of one turn tell it at once.
            at = datetime.datetime.fromisoformat(now()) - EPOCH
            new = self.clock.with_suffix(".new")
            new.write_text(f"{at.days * 86400 + at.seconds} {at.microseconds * 1000}\n")
            new.replace(self.clock)

    def command(self, *args, told=None):
        """Runs `guardc` at the time that the clock has."""
        return subprocess.run([GUARDC, *map(str, args)], input=told, env=self.env, cwd=self.place, capture_output=True, text=True, timeout=PATIENCE)

    def event(self, run, name, **members):
        """Puts an event of Claude Code to the hook, at the kit's time. Returns what it would have the model read; raises `Blocked`."""
        self.tell_time()
        event = {"session_id": self.name, "cwd": run.get("workspace", str(self.place)), "hook_event_name": name, **members}
        done = self.command("hook", "claude-code", "--plan", self.plan, "--store", self.store, told=json.dumps(event))
        if done.returncode != 0:
            raise Blocked(done.stderr)
        answer = json.loads(done.stdout)
        specific = answer.get("hookSpecificOutput", {})
        if specific.get("permissionDecision") == "deny":
            raise Blocked(specific["permissionDecisionReason"])
        if answer.get("decision") == "block":
            raise Blocked(answer["reason"])
        return specific.get("additionalContext", "")

    def records(self):
        return self.journal.read_text(encoding="utf-8").splitlines() if self.journal.exists() else []

    def last(self, kind):
        """The payload of the last record of a kind."""
        records = map(json.loads, reversed(self.records()))
        return next((record["payload"] for record in records if record["kind"] == kind), {})

    def requests(self, *options):
        return json.loads(self.command("approvals", "list", "--json", *options, "--store", self.store).stdout)["requests"]


CLOCK = build_clock()
#: The key of all stores: traces are replayed with it.
KEY = folder / "key"
KEY.write_text(f"{secrets.token_hex(32)}\n")
KEY.chmod(0o600)


def session_of(run):
    """The session of a run, with its guard."""
    if run["session"] not in sessions:
        sessions[run["session"]] = Session(run["session"])
    session = sessions[run["session"]]
    shutil.copy(run["plan"], session.plan)
    plans[run["source"]] = session.plan
    return session


def approve(session, call):
    """Asks the people whose approval a call waits for, and tells the command what they say. Returns whether all have granted it."""
    said = {}
    for role in roles(session, call):
        said[role] = kit.ask("approval.request", role=role, **call)
        if not said[role]["granted"]:
            return False
    for role, answer in said.items():
        grant(session, call["tool"], call["args"], role, answer["by"], answer.get("expires"))
    return bool(said)


def roles(session, call):
    """The roles that rules name for a call that waits. What nobody may do unasked waits as well, and names none."""
    reasons = [reason for request in waiting(session, call["tool"], call["args"]) for reason in request["reasons"]]
    return sorted({role for reason in reasons if reason["code"] == "approval" for role in reason["needs"]})


def waiting(session, tool, args, *options):
    """The requests for exactly this call that wait for people; with `--all` also those that were answered."""
    return [request for request in session.requests(*options) if request["tool"] == tool and json.loads(request["args"]) == args]


def grant(session, tool, args, role, by, expires=None):
    """Grants what waits. An approval that has ended already is none."""
    session.tell_time()
    left = [] if expires is None else ["--for", f"{int((parsed(expires) - parsed(now())).total_seconds())}s"]
    if left == ["--for", "0s"]:
        return
    for request in waiting(session, tool, args):
        done = session.command("approvals", "grant", request["id"], "--by", by, "--role", role, *left, "--store", session.store)
        # The command takes no answer in a role that the call does not need.
        if done.returncode != 0 and "name the role" not in done.stderr:
            raise RuntimeError(done.stderr)


def revoke(session, tool, args, by):
    """Takes back what was granted."""
    session.tell_time()
    for request in waiting(session, tool, args, "--all"):
        done = session.command("approvals", "revoke", request["id"], "--by", by, "--store", session.store)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)


def resume(session, role, by):
    """Ends a halt."""
    session.tell_time()
    done = session.command("approvals", "resume", session.name, "--plan", session.plan, "--by", by, "--role", role, "--store", session.store)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)


def happened(session, event):
    """What people do outside of the loop."""
    if event["event"] == "approve":
        grant(session, event["tool"], event["args"], event["role"], event["by"])
    elif event["event"] == "revoke":
        revoke(session, event["tool"], event["args"], event["by"])
    elif event["event"] == "resume":
        resume(session, event["role"], event["by"])
    else:
        raise RuntimeError(f"no command tells the guard of `{event['event']}`")


def parsed(text):
    return datetime.datetime.fromisoformat(text)


def run_tool(session, call, tools):
    """Runs a tool at the kit. Returns its text, whether it succeeded, and whether the run is to be cancelled."""
    if call["tool"] not in tools:
        return f"there is no tool `{call['tool']}`", False, False
    done = kit.ask("tool.execute", **call)
    return done["result"], done["outcome"] == "success", done.get("failure") == "cancelled"


class Agent:
    """The agent in one run. `answers(calls)` of a subclass makes the calls of a turn, and returns the messages that answer them."""

    def __init__(self, run):
        self.session, self.run, self.messages = session_of(run), run, []
        self.tools = {tool["name"] for tool in run["tools"] if "elsewhere" not in tool}

    def say(self, text):
        """What the user says."""
        self.messages.append({"role": "user", "text": text})
        self.session.event(self.run, "UserPromptSubmit", prompt=text)

    def loop(self):
        self.say(self.run["prompt"])
        while True:
            turn = assembled(kit.ask("model.next", messages=self.messages))
            for event in turn.get("host", []):
                self.say(event["text"]) if event["event"] == "prompt" else happened(self.session, event)
            calls = turn.get("calls", [])
            self.messages.append({"role": "assistant", "text": turn.get("say") or turn.get("output") or "", "calls": calls})
            for number, call in enumerate(calls):
                call["call"] = call["call"] or f"nameless-{len(self.messages)}-{number}"
            self.messages += self.answers(calls)
            if turn.get("stop"):
                try:
                    self.session.event(self.run, "Stop", stop_hook_active=False)
                    return ended(self.session, self.run, turn)
                except Blocked as reason:
                    self.messages.append({"role": "user", "text": str(reason)})


def ended(session, run, turn):
    """How a run ended that the guard let end: its last record of a stop says it."""
    stop = session.last("stop")
    how = {None: "incomplete" if stop.get("missing") else "stopped", "deadline": "deadline", "halted": "halted"}
    return {"ended": how.get(stop.get("bypassed"), "budget"), "output": turn.get("output"), "trace": session.records(),
            "unguarded": [tool["name"] for tool in run["tools"] if "elsewhere" in tool]}


def snapshot(params):
    """A session is its store: the texts of its files."""
    store = sessions[params["session"]].store
    return {"snapshot": {str(path.relative_to(store)): path.read_text(encoding="utf-8") for path in store.rglob("*") if path.is_file()}}


def restore(params):
    session = sessions[params["session"]] = Session(params["session"])
    for name, text in params["snapshot"].items():
        path = session.store / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o600)
    return {}


def reset(params):
    for session in [params["session"]] if "session" in params else list(sessions):
        sessions.pop(session, None)
    return {}


def replay(params):
    """A trace is decided again by a command, with the plan of its session: reasons hold the name of the file that the plan was compiled from."""
    records = pathlib.Path(tempfile.mkdtemp(dir=folder)) / "trace.jsonl"
    records.write_text("".join(line + "\n" for line in params["trace"]), encoding="utf-8")
    command = [GUARDC, "replay", records, "--plan", plans[params["source"]], "--key", KEY, "--format", "json"]
    said = subprocess.run(command, capture_output=True, text=True)
    if said.returncode == 0:
        return {"agrees": True}
    report = json.loads(said.stdout)
    at = report["differences"][0]["seq"] if report["differences"] else report["failures"][0]["line"] - 1
    return {"agrees": False, "at": at}


def answer_of(name, capabilities, loop):
    """The answers to the kit's questions; `loop` answers `run`."""
    hello = {"name": name, "version": "1", "reusable": True, "capabilities": {capability: True for capability in capabilities.split()}}
    methods = {"hello": lambda params: hello, "run": loop, "snapshot": snapshot, "restore": restore, "reset": reset, "replay": replay}
    return lambda method, params: methods[method](params)
