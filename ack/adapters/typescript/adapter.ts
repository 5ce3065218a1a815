// A guard around an agent loop, for the conformance kit:
//
//     guardc ack run -- node ack/adapters/typescript/adapter.ts
//
// Node 22.18 and later runs it as it is: its types are erasable. Older ones (20 at least): `npx tsc --outDir build
// --target es2022 --module nodenext --skipLibCheck adapter.ts`, then `node build/adapter.js`. Copy it, and put your
// framework's loop in place of `loop`. Guard decides in a process of its own (`guardc serve`); this file carries out
// what it decides. Standard output belongs to the protocol: print to standard error.

import { execFileSync, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";

type Json = any;
type Call = { call: string; tool: string; args: Json };
type Message = { role: "system" | "user" | "assistant" | "tool"; text: string; call?: string; calls?: Call[] };
type Waiting = { resolve: (result: Json) => void; reject: (error: Error) => void };

const CAPABILITIES = [
  "tool_policies", "argument_checks", "unknown_tools", "denial_feedback", "effects", "invariants", "budgets", "limits",
  "parallel_calls", "feedback", "feedback_triggers", "deadline", "task_completion", "lifecycles", "attestation",
  "contracts", "approvals", "native_tools", "trace", "restore",
];

// JavaScript reads 9007199254740993 as another number, and the guard must judge what the model wrote: a number that
// would not come back as it is travels as a marked text.
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const parse = (text: string): Json =>
  JSON.parse(text.replace(TOKENS, (token) => (token[0] === '"' || String(Number(token)) === token ? token : `"\\u0001${token}"`)));
const stringify = (value: Json): string => JSON.stringify(value).replace(/"\\u0001([^"\\]*)"/g, "$1");

/** JSON lines to somebody and back; any number of questions at a time. */
class Line {
  asked = 0;
  waiting = new Map<string, Waiting>();
  write: (text: string) => void;
  extra: object;
  constructor(write: (text: string) => void, extra: object) {
    this.write = write;
    this.extra = extra;
  }
  say(message: Json): void {
    this.write(stringify(message) + "\n");
  }
  ask(method: string, params: Json): Promise<Json> {
    const id = `a${++this.asked}`;
    this.say({ ...this.extra, id, method, params });
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }
  hear(message: Json): void {
    const waiting = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.error) waiting?.reject(new Error(message.error.message));
    else waiting?.resolve(message.result);
  }
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "guard-adapter-"));
const server = spawn(process.env.GUARDC ?? "guardc", ["serve", "--durability", "off", "--key", path.join(folder, "key")], { stdio: ["pipe", "pipe", "inherit"] });
const kit = new Line((text) => process.stdout.write(text), {});
const guard = new Line((text) => server.stdin.write(text), { jsonrpc: "2.0" });
createInterface({ input: server.stdout }).on("line", (line) => guard.hear(parse(line)));

const sessions = new Map<string, string>(); // by the kit's id: where its journal is kept
const probes = new Map<string, string[]>(); // by the same: the probes that are asked of us
const now = async (): Promise<string> => (await kit.ask("clock.now", {})).now;
const joined = (...texts: string[]): string => texts.filter((text) => text).join("\n\n");
const shown = (value: Json): string => (typeof value === "string" && value[0] !== "\u0001" ? value : stringify(value));
const journal = (session: string): string => path.join(sessions.get(session)!, `${session}.jsonl`);
const trace = (session: string): string[] => fs.readFileSync(journal(session), "utf8").trimEnd().split("\n");

async function open(session: string, run: Json, lines: string[]): Promise<void> {
  sessions.set(session, fs.mkdtempSync(path.join(folder, "journal-")));
  if (lines.length) {
    fs.writeFileSync(journal(session), lines.map((line) => line + "\n").join(""));
    // The store is told which sessions it has.
    execFileSync(server.spawnfile, ["trace", "repair", "--ledger", sessions.get(session)!]);
  }
  const { source, workspace, data } = run;
  const where = { journal: sessions.get(session), now: run.now ?? (await now()) };
  probes.set(session, (await guard.ask("session.open", { session, source, workspace, data, ...where })).probes);
}

/** Something happened: the guard is told, with the time and what its probes would find. */
async function tell(method: string, session: string, event: Json): Promise<Json> {
  const answers: Json = {};
  for (const name of probes.get(session) ?? []) answers[name] = (await kit.ask("probe.read", { name })).answer;
  return guard.ask(method, { session, ...event, now: await now(), probes: Object.keys(answers).length ? answers : undefined });
}

/** What becomes of a call: it is run, it waits, or this is its answer. */
async function gate(session: string, call: Call): Promise<{ run?: true; wait?: true; text: string }> {
  for (let asked = false; ; asked = true) {
    const said = await tell("call.propose", session, call);
    if (said.verdict === "allow" && !said.served) return { run: true, text: "" };
    if (said.verdict === "allow") return { text: joined(shown(said.served.result), said.rendered) };
    if (said.verdict === "wait") return { wait: true, text: said.message };
    const text = joined(said.message, said.rendered);
    if (said.verdict === "deny" || asked) return { text };
    const needed = said.reasons.filter((reason: Json) => reason.code === "approval");
    for (const role of new Set<string>(needed.flatMap((reason: Json) => reason.needs))) {
      const { granted, by, expires } = await kit.ask("approval.request", { ...call, role });
      if (!granted) return { text };
      const { tool, args } = call;
      await tell("call.approve", session, { tool, args, role, by, expires });
    }
  }
}

/** Runs a tool and settles its call: what the model reads as the answer. */
async function execute(session: string, call: Call): Promise<string> {
  const done = await kit.ask("tool.execute", call);
  const settled = await tell("call.settle", session, { call: call.call, ...done });
  return joined(done.outcome === "success" ? shown(done.result) : `error: ${shown(done.result)}`, settled.rendered);
}

/** The calls of one turn: judged in order, run together, and those that wait judged again whenever one has ended. */
async function calls(session: string, turn: Call[]): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  const running = new Map<string, Promise<string>>();
  for (let waiting = turn; waiting.length || running.size; ) {
    const judged = waiting;
    waiting = [];
    for (const call of judged) {
      const said = await gate(session, call);
      answers.set(call.call, said.text);
      if (said.wait) waiting.push(call);
      if (said.run) running.set(call.call, execute(session, call).then((text) => (answers.set(call.call, text), call.call)));
    }
    if (!running.size) break; // nobody is left to wait for
    running.delete(await Promise.race(running.values()));
  }
  return answers;
}

/** What happened outside of the loop, told to the guard. */
async function happened(session: string, { event, ...rest }: Json, messages: Message[]): Promise<void> {
  if (event === "prompt") messages.push({ role: "user", text: rest.text });
  const method = { prompt: "session.prompt", verify: "item.verify", move: "item.move", resume: "session.resume" }[event as string]!;
  await tell(method, session, rest);
}

/** The agent: the model's turn, its calls, until it may stop. */
async function loop(run: Json): Promise<Json> {
  const { session } = run;
  const messages: Message[] = [];
  if (!sessions.has(session)) await open(session, run, []);
  await happened(session, { event: "prompt", text: run.prompt }, messages);
  for (;;) {
    const turn = await kit.ask("model.next", { messages });
    for (const event of turn.host ?? []) await happened(session, event, messages);
    for (const [unit, amount] of Object.entries(turn.usage ?? {}))
      await tell("session.usage", session, { unit, amount });
    messages.push({ role: "assistant", text: turn.say ?? turn.output ?? "", calls: turn.calls ?? [] });
    for (const [call, text] of await calls(session, turn.calls ?? [])) messages.push({ role: "tool", call, text });
    if (!turn.stop) continue;
    const stop = await tell("session.stop", session, { reason: turn.finish_reason });
    if (stop.decision === "allow") return ended(run, turn, stop);
    messages.push({ role: "user", text: stop.message });
  }
}

async function ended(run: Json, turn: Json, stop: Json): Promise<Json> {
  const { session, contract } = run;
  const why = ["deadline", "halted"].includes(stop.bypassed) ? stop.bypassed : "budget";
  const end: Json = { ended: stop.bypassed ? why : stop.incomplete ? "incomplete" : "stopped", output: turn.output };
  if (contract && turn.output !== undefined) {
    const text = { text: turn.output, finish_reason: turn.finish_reason };
    end.report = await guard.ask("contract.check", { session, contract, ...text });
  }
  return { ...end, trace: trace(session) };
}

async function forget(session: string): Promise<void> {
  if (sessions.delete(session)) await guard.ask("session.close", { session });
}

async function answer(method: string, params: Json): Promise<Json> {
  switch (method) {
    case "hello":
      return { name: "typescript-sample", version: "1", capabilities: Object.fromEntries(CAPABILITIES.map((name) => [name, true])) };
    case "run":
      return loop(params);
    case "snapshot":
      return { snapshot: trace(params.session) };
    case "restore":
      await forget(params.session);
      await open(params.session, { ...params, now: "1970-01-01T00:00:00Z" }, params.snapshot);
      return {};
    case "reset":
      await forget(params.session);
      return {};
    default:
      throw new Error(`there is no method \`${method}\``);
  }
}

const input = createInterface({ input: process.stdin });
input.on("line", async (line) => {
  const message = parse(line);
  if (!message.method) return kit.hear(message);
  try {
    kit.say({ id: message.id, result: await answer(message.method, message.params) });
  } catch (error) {
    kit.say({ id: message.id, error: { message: (error as Error).message } });
  }
});
input.on("close", () => {
  server.stdin.end();
  fs.rmSync(folder, { recursive: true, force: true });
});
