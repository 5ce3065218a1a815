"""One call, proposed and settled: Python, Rust and the sidecar in one run, medians in microseconds.

    cargo build --release -p guardc-cli -p guard-sdk --example speed
    python crates/guard-python/benches/speed.py TARGET_FOLDER

The package must be installed from a release wheel. What is not built is left out.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import time

ROUNDS = 20_000
GUARD = "guard speed\ntool refund(order: string, amount: decimal in 0.01..=500)"
ARGS = {"order": "A1", "amount": 20}


def median(step, rounds=ROUNDS):
    times, clock = [], time.perf_counter_ns
    for number in range(rounds):
        begun = clock()
        step(number)
        times.append(clock() - begun)
    return statistics.median(times) / 1000


def python():
    from guardc import Guard

    session = Guard.compile(GUARD).session("s")

    def call(number):
        session.settle(session.propose("refund", ARGS).call)

    def scope(number):
        with session.call("refund", ARGS) as scope:
            scope.result = "done"

    median(call, 2000)
    return median(call), median(scope)


def sidecar(guardc):
    server = subprocess.Popen([guardc, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(method, **params):
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"session": "s", **params}})
        server.stdin.write(line.encode() + b"\n")
        server.stdin.flush()
        return json.loads(server.stdout.readline())["result"]

    ask("session.open", source=GUARD)

    def call(number):
        ask("call.propose", call=f"c{number}", tool="refund", args=ARGS)
        ask("call.settle", call=f"c{number}", outcome="success")

    found = median(call, 5000)
    server.stdin.close()
    return found


def main():
    target = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "target") / "release"
    example = target / "examples/speed"
    if example.exists():
        print(f"Rust             {int(subprocess.check_output([example])) / 1000:8.2f}")
    call, scope = python()
    print(f"Python           {call:8.2f}\nPython, a scope  {scope:8.2f}")
    if (target / "guardc").exists():
        print(f"sidecar          {sidecar(str(target / 'guardc')):8.2f}")
    code = "import time; t = time.perf_counter(); import guardc; print((time.perf_counter() - t) * 1000)"
    imports = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(9)]
    print(f"import, ms       {statistics.median(imports):8.2f}")


if __name__ == "__main__":
    main()
