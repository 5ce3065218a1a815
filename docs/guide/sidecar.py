"""An agent's tools behind Guard. Run it from the root of the repository: python3 docs/guide/sidecar.py"""
import json, os, shlex, subprocess

guardc = shlex.split(os.environ.get("GUARDC", "cargo run -q -p guardc-cli --"))
sidecar = subprocess.Popen([*guardc, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

def ask(method, **params):
    print(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}), file=sidecar.stdin, flush=True)
    return json.loads(sidecar.stdout.readline())["result"]

def call(number, tool, **args):
    answer = ask("call.propose", session="demo", call=f"call-{number}", tool=tool, args=args)
    print(tool, args, "->", answer["verdict"], answer["message"])
    if answer["verdict"] == "allow":
        # The real tool runs here, and nowhere else; what became of it is told to the guard.
        ask("call.settle", session="demo", call=f"call-{number}", outcome="success")

ask("session.open", session="demo", plan="docs/guide/refunds.guard")
call(1, "refund", order="A1", amount=20)
call(2, "verify_customer", code="123456")
call(3, "refund", order="A1", amount=20)
print("spent:", ask("session.state", session="demo")["spent"])
