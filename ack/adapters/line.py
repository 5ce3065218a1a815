"""The line to the kit, for adapters in Python: questions and answers, one JSON object a line.

Standard output belongs to the protocol: print to standard error.
"""
import asyncio, inspect, json, sys, threading, traceback
from contextvars import ContextVar

#: The session whose run asks: several runs may go on at once.
asking = ContextVar("asking", default=None)


class Kit:
    """Questions to the kit. A thread reads its answers, so that any task or thread may ask."""

    def __init__(self):
        self.lock, self.asked, self.waiting = threading.Lock(), 0, {}

    def say(self, message):
        with self.lock:
            sys.stdout.write(json.dumps(message) + "\n")
            sys.stdout.flush()

    def send(self, method, answered, params):
        with self.lock:
            self.asked += 1
            call = f"a{self.asked}"
            self.waiting[call] = answered
        self.say({"id": call, "method": method, "params": {**params, "session": asking.get()}})

    def hear(self, message):
        self.waiting.pop(message["id"])(message)

    def ask(self, method, **params):
        """Asks, and blocks until the answer is there: for what the kit answers at once."""
        box, there = [], threading.Event()
        self.send(method, lambda message: (box.append(message), there.set()), params)
        there.wait()
        return result(box[0])

    async def wait_for(self, method, **params):
        """The same, while other tasks go on."""
        loop, answer = asyncio.get_running_loop(), asyncio.get_running_loop().create_future()
        self.send(method, lambda message: loop.call_soon_threadsafe(answer.set_result, message), params)
        return result(await answer)


def result(message):
    if "error" in message:
        raise RuntimeError(message["error"]["message"])
    return message["result"]


kit = Kit()


def now():
    return kit.ask("clock.now")["now"]


def written(call):
    """The arguments of a call as the text that the model wrote."""
    return call["args"] if isinstance(call["args"], str) else json.dumps(call["args"])


def pieces_of(turn):
    """The pieces of a streamed turn. A turn that is whole is streamed as one piece for its text and one for each call."""
    if "pieces" in turn:
        return turn["pieces"]
    text = turn.get("say") or turn.get("output")
    calls = [{"at": place, "call": call["call"], "tool": call["tool"], "args": written(call)} for place, call in enumerate(turn.get("calls", []))]
    return ([{"say": text}] if text else []) + calls


def told(result):
    """The result of a failed tool as text."""
    return result if isinstance(result, str) else json.dumps(result)


def tools_of(run):
    """The tools that are run here."""
    return [tool for tool in run["tools"] if "elsewhere" not in tool]


def assembled(turn):
    """A turn that was streamed, put together: each piece goes to the call whose number it has."""
    if "pieces" not in turn:
        return turn
    said, calls = "", {}
    for piece in turn["pieces"]:
        said += piece.get("say", "")
        if "at" in piece:
            call = calls.setdefault(piece["at"], {"call": "", "tool": "", "args": ""})
            for part in call:
                call[part] += piece.get(part, "")
    return {**turn, "say": said, "calls": [{**call, "args": json.loads(call["args"])} for call in calls.values()]}


def answered(answer, request):
    asking.set(request["params"].get("session"))
    try:
        result = answer(request["method"], request["params"])
        kit.say({"id": request["id"], "result": asyncio.run(result) if inspect.isawaitable(result) else result})
    except Exception as error:
        traceback.print_exc()
        kit.say({"id": request["id"], "error": {"message": f"{type(error).__name__}: {error}"}})


def serve(answer):
    """Serves the kit: `answer(method, params)` returns the result of what it asks, or a coroutine of it."""
    for line in sys.stdin:
        message = json.loads(line)
        if "method" in message:
            threading.Thread(target=answered, args=(answer, message), daemon=True).start()
        else:
            kit.hear(message)
