// The part of an adapter that knows no framework: the kit's protocol, sessions by the kit's id, snapshots and replays. An
// adapter gives `main` its name and its loop.
//
// Standard output belongs to the protocol: print to standard error.
import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { Guard, GuardError, SessionError } from "guardc";
import { z } from "zod";

const CAPABILITIES = `tool_policies argument_checks unknown_tools denial_feedback outages concurrent_runs effects invariants budgets limits host_reports
parallel_calls feedback feedback_triggers deadline task_completion lifecycles attestation contracts approvals deferred_approvals native_tools trace
restore replay`;

// JavaScript reads 9007199254740993 as another number, and the framework must get what the model wrote: a number that
// would not come back as it is travels as a marked text.
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
export const parse = (text) => JSON.parse(text.replace(TOKENS, (token) => (token[0] === '"' || String(Number(token)) === token ? token : `"\\u0001${token}"`)));
export const stringify = (value) => JSON.stringify(value, (_, each) => (typeof each === "bigint" ? `\u0001${each}` : each)).replace(/"\\u0001([^"\\]*)"/g, "$1");

/** The session whose run asks: several runs may go on at once. */
const asking = new AsyncLocalStorage();
const waiting = new Map();
const sessions = new Map(); // by the kit's id
let asked = 0;

const say = (message) => process.stdout.write(`${stringify(message)}\n`);

/** Asks the kit. */
export function ask(method, params = {}) {
  const id = `a${++asked}`;
  say({ id, method, params: { ...params, session: asking.getStore() } });
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

function hear({ id, result, error }) {
  const { resolve, reject } = waiting.get(id);
  waiting.delete(id);
  if (error) reject(new Error(error.message));
  else resolve(result);
}

const now = async () => (await ask("clock.now")).now;

async function open(params, trace) {
  const guard = Guard.compile(params.source);
  const start = [params.now ?? (await now())];
  const probes = async () => {
    const answers = {};
    for (const name of guard.probes) {
      const { answer } = await ask("probe.read", { name });
      if (answer !== undefined) answers[name] = answer;
    }
    return answers;
  };
  const session = guard.session(params.session, {
    workspace: params.workspace,
    data: trace ? undefined : params.data,
    trace,
    clock: () => start.pop() ?? now(),
    probes: guard.probes.length ? probes : undefined,
  });
  sessions.set(params.session, session);
  return session;
}

/** The session of a run, with a failing engine where the kit asks for one. */
export async function sessionOf(run) {
  const session = sessions.get(run.session) ?? (await open(run));
  Object.assign(session.promises, answering.get(session)); // An outage ends with its run.
  return run.outage ? failing(session, run.outage) : session;
}

const answering = new WeakMap(); // by session: what its methods were before an outage

function failing(session, outage) {
  let asked = 0;
  const counted = outage.on ?? "propose";
  const methods = {};
  for (const name of ["propose", "preview", "settle", "stop", "usage", "prompt"]) {
    const method = (methods[name] = session.promises[name]);
    session.promises[name] = async (...given) => {
      if (name === counted) asked += 1;
      const over = outage.how === "errs_once" && (name !== counted || asked > outage.at);
      if (asked >= outage.at && !over) throw new GuardError("the guard does not answer");
      return method(...given);
    };
  }
  answering.set(session, methods);
  return session;
}

const EVENTS = {
  prompt: (session, { text }) => session.promises.prompt(text),
  verify: (session, { item }) => session.promises.verifyItem(item),
  move: (session, { item, transition, by, reason }) => session.promises.moveItem(item, transition, { by, reason }),
  approve: (session, { tool, args, role, by }) => session.promises.approve(tool, args, { role, by }),
  revoke: (session, { tool, args, role, by }) => session.promises.revoke(tool, args, { role, by }),
  resume: (session, { role, by }) => session.promises.resume({ role, by }),
};

/** What the user says while the agent works, and where in the conversation. `make` makes a message of a text. */
export class Words {
  #fresh = [];
  #said = [];
  constructor(make) {
    this.make = make;
  }
  push(text) {
    this.#fresh.push(text);
  }
  /** The conversation with these words in their places; new ones stand at its end. */
  among(messages) {
    this.#said.push(...this.#fresh.splice(0).map((text) => ({ at: messages.length, message: this.make(text) })));
    const spoken = (place) => this.#said.filter(({ at }) => at === place).map(({ message }) => message);
    return [...messages.flatMap((message, place) => [...spoken(place), message]), ...spoken(messages.length)];
  }
}

/** Tells the guard what came with a turn of the model; keeps the user's words. Returns the tokens that the framework has to report. */
export async function take(session, turn, words) {
  for (const event of turn.host ?? []) {
    await EVENTS[event.event]?.(session, event);
    if (event.event === "prompt") words.push(event.text);
  }
  const used = turn.usage ?? {};
  const tokens = /^\d+$/.test(used.tokens ?? "") ? Number(used.tokens) : 0;
  for (const [unit, amount] of Object.entries(used)) {
    if (!(unit === "tokens" && tokens)) await session.promises.usage(unit, amount);
  }
  return tokens;
}

// Turns of the model

/** The id of a call; one of our own where the model gave none. */
export const idOf = ({ call }) => call || `nameless-${randomUUID()}`;

/** The arguments of a call as the text that the model wrote. */
export const written = ({ args }) => (typeof args === "string" && args[0] !== "\u0001" ? args : stringify(args));

/** Arguments of a call as JSON, or the text of the model where that is no JSON. */
export function argsOf(text) {
  try {
    return parse(text);
  } catch {
    return text;
  }
}

/** The text of a message. */
export const textOf = (content) => (typeof content === "string" ? content : content.map((part) => part.text ?? "").join(""));

/** The pieces of a streamed turn. A turn that is whole is streamed as one piece for its text and one for each call. */
export function piecesOf({ pieces, say, output, calls = [] }) {
  const text = say || output;
  return pieces ?? [...(text ? [{ say: text }] : []), ...calls.map((call, at) => ({ at, call: call.call, tool: call.tool, args: written(call) }))];
}

// Tools

/** The tools that are run here. */
export const toolsOf = (run) => run.tools.filter((tool) => !tool.elsewhere);

const TYPES = { integer: () => z.number().int(), string: () => z.string(), boolean: () => z.boolean() };

/** The schema of a typed tool, which the framework validates by and converts with; nothing for the others. */
export function typedSchema({ properties, required = [] }, absent = (kind) => kind.nullish()) {
  if (!properties) return undefined;
  const fields = Object.entries(properties).map(([name, property]) => {
    const kind = TYPES[property.type]();
    if (required.includes(name)) return [name, kind];
    return [name, "default" in property ? kind.default(property.default) : absent(kind)];
  });
  return z.object(Object.fromEntries(fields));
}

/** Runs a tool at the kit, and returns its result. Throws where it failed; where the run is to be cancelled, calls `cancel`. */
export async function execute(call, tool, args, cancel) {
  const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null && value !== undefined));
  const done = await ask("tool.execute", { call, tool, args: given });
  if (done.outcome === "success") return done.result;
  if (done.failure === "cancelled") {
    cancel();
    await new Promise(() => {}); // The cancellation ends it at once.
  }
  throw new Error(typeof done.result === "string" ? done.result : stringify(done.result));
}

/** Asks a person at the kit for a role's approval. */
export async function approve(pending, role) {
  const { granted, by, expires } = await ask("approval.request", { call: pending.call, tool: pending.tool, args: parse(pending.argsText), role });
  return granted ? { by, expires } : undefined;
}

/** What the kit is told at the end of a run. */
export async function ended(session, run, turn, stop) {
  const how = { deadline: "deadline", halted: "halted" };
  const end = { ended: stop.bypassed ? (how[stop.bypassed] ?? "budget") : stop.incomplete ? "incomplete" : "stopped", output: turn.output };
  end.unguarded = run.tools.filter((tool) => tool.elsewhere).map((tool) => tool.name);
  if (run.contract && turn.output !== undefined) {
    end.report = (await session.promises.check(run.contract, turn.output, { finishReason: turn.finish_reason })).toJSON();
  }
  return { ...end, trace: session.records() };
}
export const cancelled = (session) => ({ ended: "cancelled", trace: session.records() });

function forget(session) {
  sessions.get(session)?.close();
  sessions.delete(session);
}

/** The trace is decided again: a session resumes from it only if each record comes out as it was. */
function replay({ source, trace }) {
  const { payload } = JSON.parse(trace[0]);
  try {
    Guard.compile(source).session(payload.session, { trace }).close();
    return { agrees: true };
  } catch (error) {
    if (!(error instanceof SessionError)) throw error;
    return { agrees: false, at: error.seq };
  }
}

const METHODS = {
  run: (params, loop) => loop(params),
  snapshot: ({ session }) => ({ snapshot: sessions.get(session).records() }),
  async restore(params) {
    forget(params.session);
    await open({ ...params, now: "1970-01-01T00:00:00Z" }, params.snapshot);
    return {};
  },
  reset({ session }) {
    for (const each of session === undefined ? [...sessions.keys()] : [session]) forget(each);
    return {};
  },
  replay,
};

async function serve(name, loop, more, { id, method, params }) {
  try {
    const capabilities = Object.fromEntries([...CAPABILITIES.split(/\s+/), ...more].map((capability) => [capability, true]));
    if (method !== "hello" && !Object.hasOwn(METHODS, method)) throw new Error(`there is no method \`${method}\``);
    say({ id, result: method === "hello" ? { name, version: "1", reusable: true, capabilities } : await METHODS[method](params, loop) });
  } catch (error) {
    console.error(error);
    say({ id, error: { message: `${error.name}: ${error.message}` } });
  }
}

/** Serves the kit: `loop` takes the parameters of `run` and returns what `ended` says; `more` are further capabilities. */
export function main(name, loop, ...more) {
  createInterface({ input: process.stdin }).on("line", (line) => {
    const message = parse(line);
    if ("method" in message) asking.run(message.params.session, () => serve(name, loop, more, message));
    else hear(message);
  });
}
