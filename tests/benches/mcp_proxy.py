"""The time that `guardc mcp-proxy` adds to a call: a small server asked directly and through the proxy, in turns.

Usage: mcp_proxy.py GUARDC [CALLS]. Python's standard library only; medians in microseconds.
"""
import json, os, statistics, subprocess, sys, tempfile, time

SERVER = """
import sys
for line in sys.stdin:
    at = line.index('"id":') + 5
    number = line[at:line.index(',', at)]
    sys.stdout.write('{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}]}}\\n' % number)
    sys.stdout.flush()
"""
GUARD = "guard bench\n\ntool read_note(id: int in 1..) {\n  deny when id > 1000000\n}\n"


class Asked:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.number = 0

    def call(self):
        self.number += 1
        params = '{"name":"read_note","arguments":{"id":7}}'
        line = f'{{"jsonrpc":"2.0","id":{self.number},"method":"tools/call","params":{params}}}\n'.encode()
        begun = time.perf_counter()
        self.process.stdin.write(line)
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        took = time.perf_counter() - begun
        assert json.loads(answer)["result"]["content"][0]["text"] == "done", answer
        return took * 1e6

    def end(self):
        self.process.stdin.close()
        self.process.wait()


guardc, calls = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2000
folder = tempfile.mkdtemp(dir=os.environ.get("BENCH_FOLDER"))
with open(f"{folder}/bench.guard", "w") as file:
    file.write(GUARD)
server = [sys.executable, "-c", SERVER]


def proxy(level):
    options = ["--plan", f"{folder}/bench.guard", "--store", f"{folder}/{level}", "--session", "s1", "--durability", level]
    return Asked([guardc, "mcp-proxy", *options, "--", *server])


asked = {"directly": Asked(server), "records kept": proxy("off"), "records on the disk": proxy("full")}
times = {name: [] for name in asked}
for number in range(calls + 50):
    for name, one in asked.items():
        took = one.call()
        if number >= 50:
            times[name].append(took)
for one in asked.values():
    one.end()
base = statistics.median(times["directly"])
for name, each in times.items():
    middle, best = statistics.median(each), min(each)
    print(f"{name:20} median {middle:7.0f}  added {middle - base:7.0f}  best {best:7.0f}  added {best - min(times['directly']):7.0f}")
