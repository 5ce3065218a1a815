// A guard around an agent loop, for the conformance kit:
//
//     guardc ack run -- node ack/adapters/typescript/adapter.ts
//
// Node 22.18 and later runs it as it is: its types are erasable. Older ones (20 at least): `npx tsc --outDir build
// --target es2022 --module nodenext --skipLibCheck adapter.ts`, then `node build/adapter.js`. Copy it, and put your
// framework's loop in place of `loop`. Guard decides in a process of its own (`guardc serve`); this file carries out
// what it decides. Standard output belongs to the protocol: print to standard error.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";

type Json = any;
type Call = { call: string; tool: string; args: Json };
type Message = { role: "system" | "user" | "assistant" | "tool"; text: string; call?: string; calls?: Call[] };
type Waiting = { resolve: (result: Json) => void; reject: (error: Error) => void };

/** How long the guard may take to answer, in milliseconds. A guard that does not answer allows nothing. */
const PATIENCE = 3000;

/** An answer that is an error, with its code where it has one. */
class Refused extends Error {
  code?: string;
  constructor(error: Json) {
    super(error.message);
    this.code = error.data?.code;
  }
}

const CAPABILITIES = [
  "tool_policies", "argument_checks", "unknown_tools", "denial_feedback", "outages", "streaming", "concurrent_runs", "effects", "invariants", "budgets", "limits", "host_reports",
  "parallel_calls", "feedback", "feedback_triggers", "deadline", "task_completion", "lifecycles", "attestation",
  "contracts", "approvals", "deferred_approvals", "native_tools", "trace", "restore",
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
    if (message.error) waiting?.reject(new Refused(message.error));
    else waiting?.resolve(message.result);
  }
}

/** The guard. Once it is gone, or silent for too long, every question to it is an error until it is started again. */
class Sidecar extends Line {
  gone = "";
  probes = new Map<string, string[]>(); // by the session that it has open: the probes that are asked of us
  process: ChildProcess;
  constructor() {
    const serve = ["serve", "--durability", "off", "--key", `${folder}/key`];
    const server = spawn(GUARDC, serve, { stdio: ["pipe", "pipe", "inherit"] });
    super((text) => server.stdin.write(text), { jsonrpc: "2.0" });
    this.process = server;
    server.on("close", () => this.lose("the guard has ended"));
    server.stdin.on("error", () => this.lose("the guard has ended"));
    createInterface({ input: server.stdout }).on("line", (line) => this.hear(parse(line)));
  }
  ask(method: string, params: Json): Promise<Json> {
    if (this.gone) return Promise.reject(new Error(this.gone));
    const timer = setTimeout(() => this.lose("the guard does not answer"), PATIENCE);
    return super.ask(method, params).finally(() => clearTimeout(timer));
  }
  lose(why: string): void {
    this.gone = why;
    for (const { reject } of this.waiting.values()) reject(new Error(why));
    this.waiting.clear();
  }
}

const GUARDC = process.env.GUARDC ?? "guardc";
// The kit removes the temporary folder of an adapter.
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "guard-adapter-"));
const kit = new Line((text) => process.stdout.write(text), {});
let guard = new Sidecar();

/** What is kept of a session: the folder of its journal, and the calls that ran and whose settlement the guard did not take. */
type Kept = { place: string; unsettled: Json[] };
const kept = new Map<string, Kept>(); // by the kit's id of a session
const now = async (session: string): Promise<string> => (await kit.ask("clock.now", { session })).now;
const joined = (...texts: string[]): string => texts.filter((text) => text).join("\n\n");
const shown = (value: Json): string => (typeof value === "string" && value[0] !== "\u0001" ? value : stringify(value));
const journal = (session: string): string => `${kept.get(session)!.place}/${session}.jsonl`;
const trace = (session: string): string[] => fs.readFileSync(journal(session), "utf8").trimEnd().split("\n");

/** Opens a session that keeps its journal in a folder. */
async function open(session: string, run: Json, place: string): Promise<void> {
  const { source, workspace, data } = run;
  const where = { journal: place, now: run.now ?? (await now(session)) };
  guard.probes.set(session, (await guard.ask("session.open", { session, source, workspace, data, ...where })).probes);
}

/** Opens a session from its journal. The store is told which sessions it has. */
async function takeUp(session: string, run: Json): Promise<void> {
  const { place } = kept.get(session)!;
  execFileSync(GUARDC, ["trace", "repair", "--ledger", place]);
  await open(session, { ...run, data: undefined, now: "1970-01-01T00:00:00Z" }, place);
}

/** Opens the session of a run, and settles what an earlier run could not. */
async function enter(session: string, run: Json): Promise<void> {
  await find(session, run);
  for (const late = kept.get(session)!.unsettled; late.length; late.shift()) {
    try {
      await tell("call.settle", session, late[0]);
    } catch (error) {
      if ((error as Refused).code !== "no_such_call") throw error; // The guard took the settlement, and its answer was lost.
    }
  }
}

/** Opens the session of a run where the guard does not have it: a new one, or from its journal where a guard is gone that had it. */
async function find(session: string, run: Json): Promise<void> {
  if (guard.gone) {
    guard.process.kill("SIGKILL");
    guard = new Sidecar();
  }
  if (guard.probes.has(session)) return;
  if (kept.has(session)) return takeUp(session, run);
  const place = fs.mkdtempSync(`${folder}/journal-`);
  await open(session, run, place);
  kept.set(session, { place, unsettled: [] });
}

/** Something happened: the guard is told, with the time and what its probes would find. */
async function tell(method: string, session: string, event: Json): Promise<Json> {
  const answers: Json = {};
  for (const name of guard.probes.get(session) ?? []) answers[name] = (await kit.ask("probe.read", { session, name })).answer;
  return guard.ask(method, { session, ...event, now: await now(session), probes: Object.keys(answers).length ? answers : undefined });
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
      const { granted, by, expires } = await kit.ask("approval.request", { ...call, session, role });
      if (!granted) return { text };
      const { tool, args } = call;
      await tell("call.approve", session, { tool, args, role, by, expires });
    }
  }
}

/** The run was cancelled while a tool ran. */
class Cancelled extends Error {}

/** Runs a tool and settles its call: what the model reads as the answer. */
async function execute(session: string, call: Call, tools: Set<string>): Promise<string> {
  const nobody = { outcome: "failure", result: `there is no tool \`${call.tool}\`` };
  const done = tools.has(call.tool) ? await kit.ask("tool.execute", { ...call, session }) : nobody;
  const { outcome, result } = done;
  const end = { call: call.call, outcome, result };
  const settled = await tell("call.settle", session, end).catch((error) => {
    kept.get(session)!.unsettled.push(end);
    throw error;
  });
  if (done.failure === "cancelled") throw new Cancelled();
  // What the guard shows in place of a result is all that the model may read.
  const text = shown("shown" in settled ? settled.shown : done.result);
  return joined(done.outcome === "success" ? text : `error: ${text}`, settled.rendered);
}

/** The calls of one turn: judged in order, run together, and those that wait judged again whenever one has ended. */
async function calls(session: string, turn: Call[], tools: Set<string>): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  const running = new Map<string, Promise<string>>();
  const seen = new Set<string>();
  const twice = turn.filter((call) => seen.size === seen.add(call.call).size);
  for (let waiting = turn.filter((call) => !twice.includes(call)); waiting.length || running.size; ) {
    const judged = waiting;
    waiting = [];
    for (const call of judged) {
      const said = await gate(session, call);
      answers.set(call.call, said.text);
      if (said.wait) waiting.push(call);
      if (said.run) running.set(call.call, execute(session, call, tools).then((text) => (answers.set(call.call, text), call.call)));
    }
    if (!running.size) break; // nobody is left to wait for
    running.delete(await Promise.race(running.values()));
  }
  for (const { call } of twice) answers.set(call, joined(answers.get(call)!, `two calls have the id ${call}, and the second did not run`));
  return answers;
}

/** What the model used: a guard that charges nothing for it says so, and that is all. */
async function use(session: string, unit: string, amount: Json): Promise<void> {
  try {
    await tell("session.usage", session, { unit, amount });
  } catch (error) {
    if ((error as Refused).code !== "not_host_charged") throw error;
  }
}

/** What happened outside of the loop, told to the guard. */
async function happened(session: string, { event, ...rest }: Json, messages: Message[]): Promise<void> {
  if (event === "prompt") messages.push({ role: "user", text: rest.text });
  const method = { prompt: "session.prompt", verify: "item.verify", move: "item.move", approve: "call.approve", revoke: "call.revoke", resume: "session.resume" }[event as string]!;
  await tell(method, session, rest);
}

/** A turn that was streamed, put together: each piece goes to the call whose number it has. */
function assembled(turn: Json): Json {
  if (!turn.pieces) return turn;
  const calls: Json[] = [];
  let say = "";
  for (const piece of turn.pieces) {
    say += piece.say ?? "";
    if (piece.at === undefined) continue;
    const call = (calls[piece.at] ??= { call: "", tool: "", args: "" });
    for (const part of Object.keys(call)) call[part] += piece[part] ?? "";
  }
  return { ...turn, say, calls: calls.map((call) => ({ ...call, args: parse(call.args) })) };
}

/** The agent: the model's turn, its calls, until it may stop. */
async function loop(run: Json): Promise<Json> {
  const { session } = run;
  const messages: Message[] = [];
  const tools = new Set<string>(run.tools.filter((tool: Json) => !tool.elsewhere).map((tool: Json) => tool.name));
  await enter(session, run);
  await happened(session, { event: "prompt", text: run.prompt }, messages);
  for (;;) {
    const turn = assembled(await kit.ask("model.next", { session, messages }));
    for (const event of turn.host ?? []) await happened(session, event, messages);
    for (const [unit, amount] of Object.entries(turn.usage ?? {}))
      await use(session, unit, amount);
    const asked: Call[] = turn.calls ?? [];
    asked.forEach((call, number) => (call.call ||= `nameless-${messages.length}-${number}`));
    messages.push({ role: "assistant", text: turn.say ?? turn.output ?? "", calls: asked });
    for (const [call, text] of await calls(session, asked, tools)) messages.push({ role: "tool", call, text });
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
  end.unguarded = run.tools.filter((tool: Json) => tool.elsewhere).map((tool: Json) => tool.name);
  if (contract && turn.output !== undefined) {
    const text = { text: turn.output, finish_reason: turn.finish_reason };
    end.report = await guard.ask("contract.check", { session, contract, ...text });
  }
  return { ...end, trace: trace(session) };
}

async function forget(session: string): Promise<void> {
  kept.delete(session);
  if (guard.probes.delete(session)) await guard.ask("session.close", { session });
}

const METHODS: { [method: string]: (params: Json) => Promise<Json> } = {
  async hello() {
    return { name: "typescript-sample", version: "1", reusable: true, capabilities: Object.fromEntries(CAPABILITIES.map((name) => [name, true])) };
  },
  run(params) {
    return loop(params).catch((error) => {
      if (!(error instanceof Cancelled)) throw error;
      return { ended: "cancelled", trace: trace(params.session) };
    });
  },
  async snapshot({ session }) {
    return { snapshot: trace(session) };
  },
  /** A session is its journal: written to a new folder, from which the next run takes it up. */
  async restore({ session, snapshot }) {
    await forget(session);
    kept.set(session, { place: fs.mkdtempSync(`${folder}/journal-`), unsettled: [] });
    fs.writeFileSync(journal(session), snapshot.map((line: string) => line + "\n").join(""));
  },
  /** Forgets a session; without one everything, before the next case of the kit. */
  async reset(params) {
    for (const session of params.session ? [params.session] : [...kept.keys()]) await forget(session);
  },
};

const input = createInterface({ input: process.stdin });
input.on("line", async (line) => {
  const message = parse(line);
  if (!message.method) return kit.hear(message);
  try {
    kit.say({ id: message.id, result: (await METHODS[message.method](message.params)) ?? {} });
  } catch (error) {
    kit.say({ id: message.id, error: { message: (error as Error).message } });
  }
});
// What the guard has answered is in its journals. One that hangs would stay.
input.on("close", () => guard.process.kill("SIGKILL"));
