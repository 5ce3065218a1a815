// One call, proposed and settled: Node, Rust and the sidecar in one run, medians in microseconds.
//
//     cargo build --release -p guardc-cli -p guard-sdk --example speed
//     node crates/guard-node/build.mjs --release
//     node crates/guard-node/benches/speed.mjs TARGET_FOLDER
//
// A side that is not built is left out.
import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Guard } from "../lib/index.mjs";

const ROUNDS = 20_000;
const GUARD = "guard speed\ntool refund(order: string, amount: decimal in 0.01..=500)";
const ARGS = { order: "A1", amount: 20 };
const ACTS = "guard acts\nrecord Act { what: string, n: int }\ncontract R {\n  items acts: Act\n}";

const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];
const show = (name, value) => console.log(name.padEnd(28) + value.toFixed(2).padStart(9));

async function measured(step, rounds = ROUNDS) {
  const times = new Array(rounds);
  for (let number = 0; number < rounds; number += 1) {
    const begun = process.hrtime.bigint();
    const done = step(number);
    if (done) await done;
    times[number] = Number(process.hrtime.bigint() - begun) / 1000;
  }
  return median(times);
}

async function node() {
  const session = Guard.compile(GUARD).session("s");
  const call = () => void session.settle(session.propose("refund", ARGS).call);
  const text = () => void session.settle(session.propose("refund", '{"order": "A1", "amount": 20}').call);
  const scope = () => session.call("refund", ARGS, () => "done");
  await measured(call);
  show("Node, an object", await measured(call));
  show("Node, the model's text", await measured(text));
  await measured(scope);
  show("Node, a scope", await measured(scope));
}

async function sidecar(guardc) {
  const server = spawn(guardc, ["serve"], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  const ask = async (method, params) => {
    server.stdin.write(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { session: "s", ...params } }) + "\n");
    const { result, error } = JSON.parse((await lines.next()).value);
    if (error) throw new Error(error.message);
    return result;
  };
  await ask("session.open", { source: GUARD });
  const call = async (number) => {
    await ask("call.propose", { call: `c${number}`, tool: "refund", args: ARGS });
    await ask("call.settle", { call: `c${number}`, outcome: "success" });
  };
  show("sidecar, asked from Node", await measured(call, 5000));
  server.stdin.end();
}

async function contract() {
  const acts = Guard.compile(ACTS).contract("R");
  const item = JSON.stringify({ what: "x".repeat(80), n: 5 });
  const text = Buffer.from(`{"acts": [${Array(Math.floor(10e6 / (item.length + 1))).fill(item).join()}]}`);
  show("a contract of 10 MB, ms", (await measured(() => void acts.check(text), 5)) / 1000);
}

const target = join(process.argv[2] ?? "target", "release");
const [rust, guardc] = [join(target, "examples/speed"), join(target, "guardc")];
if (existsSync(rust)) show("Rust", Number(execFileSync(rust, { encoding: "utf8" })) / 1000);
await node();
if (existsSync(guardc)) await sidecar(guardc);
await contract();
const load = `const begun = performance.now(); require(${JSON.stringify(new URL("../lib/index.js", import.meta.url).pathname)}); console.log(performance.now() - begun)`;
show("require, ms", median(Array.from({ length: 9 }, () => Number(execFileSync(process.execPath, ["-e", load], { encoding: "utf8" })))));
