// The adapter for the Vercel AI SDK, through the framework's own loop with its own mock model.
import assert from "node:assert/strict";
import { test } from "node:test";
import { InvalidToolInputError, experimental_createSteering as createSteering, isLoopFinished, isStepCount, jsonSchema, simulateReadableStream, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";
import { Guard, GuardError, Incomplete } from "../lib/index.mjs";
import { Guarded } from "../integrations/ai-sdk.mjs";
import { REFUNDS, deferred, outcomes, settledTasks } from "./shared.mjs";

const WORK = "guard g\nstate { done: bool = false }\ntool work() { effect done = true }\ncompletion { done }";

const session = (source = REFUNDS) => Guard.compile(source).session("s");
const anything = jsonSchema({ type: "object", additionalProperties: true });
const call = (toolName, args, toolCallId) => ({ type: "tool-call", toolCallId, toolName, input: typeof args === "string" ? args : JSON.stringify(args) });
const says = (text) => ({ type: "text", text });

/** A model that says what stands in the script, turn by turn, whole or in pieces. */
function scripted(turns, tokens = 0) {
  const left = [...turns, [says("done")]];
  const next = () => ({ content: left.shift(), finishReason: { unified: "stop" }, usage: { inputTokens: { total: tokens }, outputTokens: { total: 0 } }, warnings: [] });
  const pieces = (part) => (part.type !== "text" ? [part] : [{ type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: part.text }, { type: "text-end", id: "1" }]);
  return new MockLanguageModelV4({
    doGenerate: async () => next(),
    doStream: async () => {
      const { content, ...end } = next();
      return { stream: simulateReadableStream({ chunks: [...content.flatMap(pieces), { type: "finish", ...end }], chunkDelayInMs: null, initialDelayInMs: null }) };
    },
  });
}

/** A tool that notes what it ran with. */
const noted = (ran, options = {}) => tool({ inputSchema: anything, execute: (args) => { ran.push(args); return "it ran"; }, ...options });

/** What the model was shown in answer to its calls, at its last turn. */
function shown(model) {
  const { prompt } = (model.doGenerateCalls.length ? model.doGenerateCalls : model.doStreamCalls).at(-1);
  const results = prompt.filter(({ role }) => role === "tool").flatMap(({ content }) => content);
  return Object.fromEntries(results.map(({ toolCallId, output }) => [toolCallId, output.value]));
}

/** Plays an agent, and the same in a stream. */
const WAYS = {
  async generate(guarded, settings, options) {
    const result = await guarded.agent({ stopWhen: isLoopFinished(), ...settings }).generate({ prompt: "Do it.", ...options });
    return result.text;
  },
  async stream(guarded, settings, options) {
    const result = await guarded.agent({ stopWhen: isLoopFinished(), ...settings }).stream({ prompt: "Do it.", ...options });
    let text = "";
    for await (const part of result.fullStream) {
      if (part.type === "error") throw part.error;
      if (part.type === "text-delta") text += part.text;
    }
    return text;
  },
};

async function play(guarded, tools, turns, options) {
  const model = scripted(turns);
  await WAYS.generate(guarded, { model, tools }, options);
  return model;
}

for (const [way, run] of Object.entries(WAYS)) {
  test(`${way}: a denied call is told why, and an allowed one runs`, async () => {
    const own = session();
    const ran = [];
    const model = scripted([[call("refund", { order: "A", amount: 1 }, "c1")], [call("verify", { code: "1" }, "c2")], [call("refund", { order: "A", amount: 1 }, "c3")]]);
    await run(new Guarded(own), { model, tools: { refund: noted(ran), verify: noted(ran) } });
    assert.deepEqual(shown(model), { c1: "`refund` requires `verify` (call `verify` first)", c2: "it ran", c3: "it ran" });
    assert.deepEqual([ran, outcomes(own)], [[{ code: "1" }, { order: "A", amount: 1 }], { c2: "success", c3: "success" }]);
  });

  test(`${way}: a blocked stop goes on with the guard's message`, async () => {
    const guarded = new Guarded(session(WORK));
    const ran = [];
    const model = scripted([[says("early ")], [call("work", {}, "c1")]]);
    assert.match(await run(guarded, { model, tools: { work: noted(ran) } }), /done$/);
    assert.deepEqual([ran.length, guarded.stopped.allowed], [1, true]);
  });

  test(`${way}: what the framework refuses is put to the guard, and does not run`, async () => {
    const own = session();
    const ran = [];
    const model = scripted([[call("nothing", {}, "c1"), call("verify", { code: 5 }, "c2"), call("verify", "{", "c3"), call("verify", "[]", "c4")]]);
    await run(new Guarded(own), { model, tools: { verify: noted(ran, { inputSchema: z.object({ code: z.string() }) }) } });
    assert.match(shown(model).c1, /declares no tool `nothing`/);
    for (const id of ["c2", "c3", "c4"]) assert.match(shown(model)[id], /code|object|arguments/, id);
    assert.deepEqual([ran, outcomes(own), own.inFlight], [[], {}, []]);
  });

  test(`${way}: an engine that fails ends the run, and nothing runs`, async () => {
    const own = session();
    const ran = [];
    const breaks = noted(ran, { execute: () => { try { own._panic(); } catch { /* as a tool might */ } } });
    const model = scripted([[call("ping", {}, "c1"), call("verify", { code: "1" }, "c2")]]);
    await assert.rejects(run(new Guarded(own), { model, tools: { ping: breaks, verify: noted(ran) } }), GuardError);
    const closed = session();
    closed.close();
    await assert.rejects(run(new Guarded(closed), { model: scripted([]), tools: {} }), GuardError);
    assert.ok(ran.length <= 1);
  });

  test(`${way}: tokens are reported before the calls that they led to are judged`, async () => {
    const own = session("guard g\nbudget tokens = 100\ntool work()");
    const ran = [];
    const model = scripted([[call("work", {}, "c1")], [call("work", {}, "c2")]], 60);
    await run(new Guarded(own), { model, tools: { work: noted(ran) } });
    assert.deepEqual([ran.length, own.state.spent.tokens.spent], [1, 180]);
  });
}

test("a call that hides behind defaults is judged as it runs, and shown as it was written", async () => {
  const guarded = new Guarded(session('guard g\ntool pay(amount: int?) { deny when (amount else 1) > 10 because "too much" }'));
  const ran = [];
  const pay = noted(ran, { inputSchema: z.object({ amount: z.number().default(50) }) });
  const model = await play(guarded, { pay }, [[call("pay", {}, "c1")], [call("pay", { amount: 5 }, "c2")]]);
  assert.match(shown(model).c1, /too much/);
  assert.deepEqual(ran, [{ amount: 5 }]);
  const calls = model.doGenerateCalls.at(-1).prompt.filter(({ role }) => role === "assistant").map(({ content }) => content[0].input);
  assert.deepEqual(calls, [{}, { amount: 5 }]);
});

test("integers that a number cannot hold are judged as both, or run as they are", async () => {
  const source = 'guard g\ntool pick(n: int) { deny when n == 9007199254740992 because "even" }';
  for (const [integers, expected] of [["number", []], ["bigint", [{ n: 9007199254740993n }]]]) {
    const ran = [];
    await play(new Guarded(session(source), { integers }), { pick: noted(ran) }, [[call("pick", '{"n": 9007199254740993}', "c1")]]);
    assert.deepEqual(ran, expected);
  }
});

test("a repaired call runs only if the guard allows what the model wrote, too", async () => {
  const own = session();
  const ran = [];
  const settings = { model: undefined, tools: { verify: noted(ran, { inputSchema: z.object({ code: z.string() }) }) } };
  const repairToolCall = async ({ toolCall, error }) => (InvalidToolInputError.isInstance(error) ? { ...toolCall, input: '{"code": "5"}' } : null);
  settings.model = scripted([[call("verify", "{code: 5", "c1"), call("verify", { code: 5 }, "c2")]]);
  await WAYS.generate(new Guarded(own), { ...settings, repairToolCall });
  assert.deepEqual([ran, outcomes(own)], [[], {}]);
});

test("a tool that throws is settled as failed, and the run goes on", async () => {
  const own = session();
  for (const [id, execute] of Object.entries({ c1: () => { throw new Error("boom"); }, c2: async () => { throw new Error("boom"); } })) {
    assert.match(shown(await play(new Guarded(own), { ping: noted([], { execute }) }, [[call("ping", {}, id)]]))[id], /boom/);
  }
  assert.deepEqual(outcomes(own), { c1: "failure", c2: "failure" });
});

test("a denial of another guard inside of a tool is an error of the tool", async () => {
  const [own, other] = [session(), session()];
  const execute = () => other.call("refund", { order: "A", amount: 1 }, () => assert.fail("it ran"));
  assert.match(shown(await play(new Guarded(own), { ping: noted([], { execute }) }, [[call("ping", {}, "c1")]])).c1, /requires `verify`/);
  assert.deepEqual(outcomes(own), { c1: "failure" });
});

test("a tool that times out is settled as failed", async () => {
  const own = session();
  const ping = noted([], { execute: () => new Promise(() => {}) });
  const model = await play(new Guarded(own), { ping }, [[call("ping", {}, "c1")]], { timeout: { toolMs: 5 } });
  assert.match(shown(model).c1, /time/i);
  assert.deepEqual([outcomes(own), own.inFlight], [{ c1: "failure" }, []]);
});

test("a run that is cancelled leaves no call in flight", async () => {
  const own = session();
  const began = deferred();
  const stop = new AbortController();
  const ping = noted([], { execute: () => { began.resolve(); return new Promise(() => {}); } });
  const run = play(new Guarded(own), { ping }, [[call("ping", {}, "c1")]], { abortSignal: stop.signal });
  await began.promise;
  stop.abort();
  await assert.rejects(run);
  assert.deepEqual([outcomes(own), own.inFlight], [{ c1: "failure" }, []]);
});

test("a tool that yields its results is settled when it has ended", async () => {
  const own = session();
  const inFlight = [];
  const ping = noted([], { async *execute() { yield "a"; inFlight.push(...own.inFlight); yield "b"; } });
  const model = scripted([[call("ping", {}, "c1")], [call("refund", {}, "c2")]]);
  const parts = [];
  const result = await new Guarded(own).streamText({ model, tools: { ping, refund: ping }, prompt: "Do it.", stopWhen: isLoopFinished() });
  for await (const part of result.fullStream) if (part.type === "tool-result" && part.preliminary) parts.push(part.output);
  assert.deepEqual([parts, inFlight, outcomes(own)], [["a", "b"], ["c1"], { c1: "success" }]);
  assert.equal(shown(model).c1, "b");
  assert.match(shown(model).c2, /order/);
});

test("a person is asked, one call after another, or the model is told", async () => {
  const asked = [];
  const approve = async (pending, role) => { asked.push(`${role} ${pending.args.order}`); await settledTasks(); return pending.args.order === "A" ? { by: "ida" } : undefined; };
  for (const [options, runs] of [[{ approve }, 1], [{}, 0]]) {
    const ran = [];
    const turns = [[call("verify", { code: "1" }, "c1")], [call("refund", { order: "A", amount: 150 }, "c2"), call("refund", { order: "B", amount: 150 }, "c3")]];
    const model = await play(new Guarded(session(), options), { refund: noted(ran), verify: noted([]) }, turns);
    assert.equal(ran.length, runs);
    assert.match(shown(model).c3, /needs the approval of boss/);
  }
  assert.deepEqual(asked, ["boss A", "boss B"]);
});

test("two calls with one id do not run on one verdict", async () => {
  const own = session();
  let runs = 0;
  const ping = noted([], { execute: async () => { runs += 1; await settledTasks(); } });
  await play(new Guarded(own), { ping }, [[call("ping", {}, "same"), call("ping", {}, "same")]]);
  assert.deepEqual([runs, outcomes(own), own.inFlight], [1, { same: "success" }, []]);
});

test("a settlement that failed is made up for before the next call", async () => {
  const own = session();
  const { settle } = own.promises;
  let fails = true;
  own.promises.settle = async (...given) => {
    if (!fails) return settle(...given);
    fails = false;
    throw new GuardError("the guard does not answer");
  };
  await assert.rejects(play(new Guarded(own), { ping: noted([]) }, [[call("ping", {}, "c1")]]), /does not answer/);
  assert.deepEqual(own.inFlight, ["c1"]);
  await play(new Guarded(own), { ping: noted([]) }, [[call("ping", {}, "c2")]]);
  assert.deepEqual([outcomes(own), own.inFlight], [{ c1: "success", c2: "success" }, []]);
});

test("the user's words are the prompt, the last message, and what steers the run", async () => {
  const source = 'guard g\ntool send(to: string) { deny unless origin(to) == prompt because "{to} was not named" }';
  const [steering, ran] = [createSteering(), []];
  const send = noted(ran, { execute: ({ to }) => { ran.push(to); steering.steer("And write to bob@example.com."); return "sent"; } });
  const turns = [[call("send", { to: "ann@example.com" }, "c1")], [call("send", { to: "bob@example.com" }, "c2")], [call("send", { to: "eve@example.com" }, "c3")]];
  const messages = [{ role: "user", content: [{ type: "text", text: "Write to ann@example.com." }] }];
  await play(new Guarded(session(source)), { send }, turns, { prompt: undefined, messages, experimental_steering: steering });
  assert.deepEqual(ran, ["ann@example.com", "bob@example.com"]);
});

test("a run that ends although its stop was blocked raises", async () => {
  const guarded = new Guarded(session(WORK));
  await assert.rejects(guarded.generateText({ model: scripted([]), prompt: "x", stopWhen: isStepCount(1) }), Incomplete);
  const open = new Guarded(session(WORK), { stops: false });
  assert.equal((await open.generateText({ model: scripted([]), prompt: "x" })).text, "done");
});

test("models and tools that the framework's hooks choose are guarded, too", async () => {
  const own = session(WORK);
  const ran = [];
  const guarded = new Guarded(own);
  const model = scripted([[call("refused", {}, "c1")], [call("work", {}, "c2")]]);
  const agent = guarded.agent({
    model: scripted([]), stopWhen: isLoopFinished(), prepareStep: () => ({ model }),
    prepareCall: (given) => ({ ...given, tools: { work: noted(ran), refused: noted(ran) } }),
  });
  await agent.generate({ prompt: "Do it." });
  assert.match(shown(model).c1, /declares no tool `refused`/);
  assert.deepEqual([ran.length, outcomes(own), guarded.stopped.allowed], [1, { c2: "success" }, true]);
});

test("a session is chosen by the run's context", async () => {
  const sessions = { a: session(), b: session() };
  const guarded = new Guarded(({ who }) => sessions[who]);
  const settings = (who) => ({ model: scripted([[call("ping", {}, "c1")]]), tools: { ping: noted([]) }, runtimeContext: { who } });
  for (const who of ["a", "b"]) await WAYS.generate(guarded, settings(who));
  assert.deepEqual([outcomes(sessions.a), outcomes(sessions.b)], [{ c1: "success" }, { c1: "success" }]);
  await assert.rejects(WAYS.generate(guarded, settings("c")), GuardError);
});

test("tools that are not run here are listed", async () => {
  const warned = new Promise((resolve) => process.once("warning", resolve));
  await play(new Guarded(session()), { search: tool({ inputSchema: anything }) }, []);
  const { code, message } = await warned;
  assert.deepEqual([code, message.includes("search")], ["UNGUARDED_TOOL", true]);
});
