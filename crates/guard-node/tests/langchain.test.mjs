// The adapter for LangChain.js, through the framework's own loop with a scripted chat model.
import assert from "node:assert/strict";
import { test } from "node:test";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessageChunk } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { AIMessage, HumanMessage, ToolMessage, createAgent, createMiddleware, tool, toolRetryMiddleware } from "langchain";
import { z } from "zod";
import { Guard, GuardError } from "../lib/index.mjs";
import { guardMiddleware } from "../integrations/langchain.mjs";
import { REFUNDS, deferred, outcomes, settledTasks } from "./shared.mjs";

const WORK = "guard g\nstate { done: bool = false }\ntool work() { effect done = true }\ncompletion { done }";
const ANYTHING = { type: "object", properties: {}, additionalProperties: true };

const session = (source = REFUNDS) => Guard.compile(source).session("s");
const call = (name, args, id) => ({ name, args, id });

/** A model that says what stands in the script: texts, or calls, whole or in pieces. A call whose arguments are a text is kept as one. */
class Scripted extends BaseChatModel {
  seen = [];
  constructor(turns, tokens = 0) {
    super({});
    this.left = [...turns, "done"];
    this.end = { usage_metadata: tokens ? { input_tokens: tokens, output_tokens: 0, total_tokens: tokens } : undefined };
  }
  _llmType() {
    return "scripted";
  }
  bindTools() {
    return this;
  }
  next(messages) {
    this.seen.push(messages);
    const turn = this.left.shift();
    return typeof turn === "string" ? { text: turn, calls: [] } : { text: "", calls: turn };
  }
  async _generate(messages) {
    const { text, calls } = this.next(messages);
    const isText = ({ args }) => typeof args === "string";
    const message = new AIMessage({ content: text, tool_calls: calls.filter((each) => !isText(each)), invalid_tool_calls: calls.filter(isText), ...this.end });
    return { generations: [{ text, message }] };
  }
  async *_streamResponseChunks(messages, options, runManager) {
    const { text, calls } = this.next(messages);
    const pieces = calls.flatMap(({ name, args, id }, index) => {
      const written = typeof args === "string" ? args : JSON.stringify(args);
      return [{ index, id, name, args: written.slice(0, 3) }, { index, args: written.slice(3) }];
    });
    const parts = [new AIMessageChunk({ content: text }), ...pieces.map((piece) => new AIMessageChunk({ content: "", tool_call_chunks: [{ ...piece, type: "tool_call_chunk" }] }))];
    for (const message of [...parts, new AIMessageChunk({ content: "", ...this.end })]) {
      const chunk = new ChatGenerationChunk({ text: message.text, message });
      await runManager?.handleLLMNewToken(message.text, undefined, undefined, undefined, undefined, { chunk });
      yield chunk;
    }
  }
  /** What the model was shown in answer to its calls, at its last turn. */
  get answers() {
    return Object.fromEntries(this.seen.at(-1).filter((message) => ToolMessage.isInstance(message)).map((message) => [message.tool_call_id, message.text]));
  }
}

/** A tool that notes what it ran with. */
const noted = (name, ran, { schema = ANYTHING, run = () => `${name} ran` } = {}) => tool((args, config) => { ran.push(args); return run(args, config); }, { name, description: name, schema });

const WAYS = {
  invoke: (agent, input, options) => agent.invoke(input, options),
  async stream(agent, input, options) {
    for await (const _ of await agent.stream(input, { ...options, streamMode: "messages" }));
  },
};

async function play(guard, tools, turns, { way = "invoke", tokens, before = [], ...options } = {}) {
  const model = new Scripted(turns, tokens);
  const agent = createAgent({ model, tools, middleware: [...before, guard] });
  await WAYS[way](agent, { messages: [new HumanMessage("Do it.")] }, options);
  return model;
}

for (const way of Object.keys(WAYS)) {
  test(`${way}: a denied call is told why, and an allowed one runs`, async () => {
    const own = session();
    const ran = [];
    const turns = [[call("refund", { order: "A", amount: 1 }, "c1")], [call("verify", { code: "1" }, "c2")], [call("refund", { order: "A", amount: 1 }, "c3")]];
    const model = await play(guardMiddleware(own), [noted("refund", ran), noted("verify", ran)], turns, { way });
    assert.deepEqual(model.answers, { c1: "`refund` requires `verify` (call `verify` first)", c2: "verify ran", c3: "refund ran" });
    assert.deepEqual([ran, outcomes(own)], [[{ code: "1" }, { order: "A", amount: 1 }], { c2: "success", c3: "success" }]);
  });

  test(`${way}: a blocked stop goes on with the guard's message`, async () => {
    const guard = guardMiddleware(session(WORK));
    const ran = [];
    const model = await play(guard, [noted("work", ran)], ["early", [call("work", {}, "c1")]], { way });
    assert.deepEqual([ran.length, guard.stopped.allowed], [1, true]);
    assert.match(model.seen[1].at(-1).text, /not complete/);
  });

  test(`${way}: what the framework refuses is put to the guard, and does not run`, async () => {
    const own = session();
    const ran = [];
    const verify = noted("verify", ran, { schema: z.object({ code: z.string() }) });
    const model = await play(guardMiddleware(own), [verify], [[call("nothing", {}, "c1"), call("verify", { code: 5 }, "c2"), call("verify", "{code", "c3")]], { way });
    assert.match(model.answers.c1, /declares no tool `nothing`/);
    assert.match(model.answers.c2, /code/);
    assert.match(model.answers.c3, /JSON|arguments/);
    assert.deepEqual([ran, outcomes(own), own.inFlight], [[], {}, []]);
  });

  test(`${way}: tokens are reported before the calls that they led to are judged`, async () => {
    const own = session("guard g\nbudget tokens = 100\ntool work()");
    const ran = [];
    await play(guardMiddleware(own), [noted("work", ran)], [[call("work", {}, "c1")], [call("work", {}, "c2")]], { way, tokens: 60 });
    assert.deepEqual([ran.length, own.state.spent.tokens.spent], [1, 180]);
  });

  test(`${way}: an engine that fails ends the run, and nothing runs`, async () => {
    const own = session();
    const ran = [];
    const breaks = noted("ping", [], { run: () => { try { own._panic(); } catch { /* as a tool might */ } return ""; } });
    const failed = play(guardMiddleware(own), [breaks, noted("verify", ran)], [[call("ping", {}, "c1")], [call("verify", { code: "1" }, "c2")]], { way });
    await assert.rejects(failed, (error) => (error.cause ?? error) instanceof GuardError);
    const closed = session();
    closed.close();
    await assert.rejects(play(guardMiddleware(closed), [], [], { way }), GuardError);
    assert.deepEqual(ran, []);
  });
}

test("pieces that the framework would mend to JSON are judged as they were written", async () => {
  const own = session();
  const ran = [];
  const model = await play(guardMiddleware(own), [noted("verify", ran)], [[call("verify", '{"code": "1"', "c1")]], { way: "stream" });
  assert.match(model.answers.c1, /cannot be read/);
  assert.deepEqual([ran, own.inFlight], [[], []]);
});

test("a call that hides behind defaults is judged as it runs", async () => {
  const guard = guardMiddleware(session('guard g\ntool pay(amount: int?) { deny when (amount else 1) > 10 because "too much" }'));
  const ran = [];
  const pay = noted("pay", ran, { schema: z.object({ amount: z.number().default(50) }) });
  const model = await play(guard, [pay], [[call("pay", {}, "c1")], [call("pay", { amount: 5 }, "c2")]]);
  assert.match(model.answers.c1, /too much/);
  assert.deepEqual(ran, [{ amount: 5 }]);
});

test("integers that a number cannot hold are judged as both, or run as they are", async () => {
  const source = 'guard g\ntool pick(n: int) { deny when n == 9007199254740992 because "even" }';
  for (const [integers, expected] of [["number", []], ["bigint", [{ n: 9007199254740993n }]]]) {
    const [guard, ran, text] = [guardMiddleware(session(source), { integers }), [], '{"n": 9007199254740993}'];
    await play(guard, [noted("pick", ran)], [[call("pick", text, "c1")]], { way: "stream" });
    assert.deepEqual(ran, expected);
  }
});

test("a tool that throws is settled as failed; the model is told, or a middleware in front tries again", async () => {
  const own = session();
  let fails = 3;
  const ping = noted("ping", [], { run: () => { if (fails-- > 1) throw new Error("boom"); return "pong"; } });
  assert.match((await play(guardMiddleware(own), [ping], [[call("ping", {}, "c1")]])).answers.c1, /boom/);
  assert.deepEqual(outcomes(own), { c1: "failure" });
  const before = [toolRetryMiddleware({ maxRetries: 2, initialDelayMs: 1, jitter: false })];
  const again = session();
  const model = await play(guardMiddleware(again, { throws: true }), [ping], [[call("ping", {}, "c2")]], { before });
  assert.deepEqual([model.answers.c2, again.inFlight], ["pong", []]);
});

test("a run that is cancelled leaves no call in flight", async () => {
  const own = session();
  const began = deferred();
  const stop = new AbortController();
  const ping = noted("ping", [], { run: () => { began.resolve(); return new Promise(() => {}); } });
  const run = play(guardMiddleware(own), [ping], [[call("ping", {}, "c1")]], { signal: stop.signal });
  await began.promise;
  stop.abort();
  await assert.rejects(run);
  assert.deepEqual([outcomes(own), own.inFlight], [{ c1: "failure" }, []]);
});

test("a person is asked, one call after another, or the model is told", async () => {
  const asked = [];
  const approve = async (pending, role) => { asked.push(`${role} ${pending.args.order}`); await settledTasks(); return pending.args.order === "A" ? { by: "ida" } : undefined; };
  for (const [options, runs] of [[{ approve }, 1], [{}, 0]]) {
    const ran = [];
    const turns = [[call("verify", { code: "1" }, "c1")], [call("refund", { order: "A", amount: 150 }, "c2"), call("refund", { order: "B", amount: 150 }, "c3")]];
    const model = await play(guardMiddleware(session(), options), [noted("refund", ran), noted("verify", [])], turns);
    assert.equal(ran.length, runs);
    assert.match(model.answers.c3, /needs the approval of boss/);
  }
  assert.deepEqual(asked, ["boss A", "boss B"]);
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
  await assert.rejects(play(guardMiddleware(own), [noted("ping", [])], [[call("ping", {}, "c1")]]), /does not answer/);
  assert.deepEqual(own.inFlight, ["c1"]);
  await play(guardMiddleware(own), [noted("ping", [])], [[call("ping", {}, "c2")]]);
  assert.deepEqual([outcomes(own), own.inFlight], [{ c1: "success", c2: "success" }, []]);
});

test("results are judged as what the framework's text says, and errors in answers are failures", async () => {
  const own = session("guard g\nstate { seen: int = 0 }\ntool look() {\n  returns int\n  observe seen = result\n}\ntool fail()");
  const answers = { run: (_, { toolCallId }) => new ToolMessage({ content: "no", tool_call_id: toolCallId, status: "error" }) };
  await play(guardMiddleware(own), [noted("look", [], { run: () => 5 }), noted("fail", [], answers)], [[call("look", {}, "c1"), call("fail", {}, "c2")]]);
  assert.deepEqual([outcomes(own), own.state.state], [{ c1: "success", c2: "failure" }, { seen: 5 }]);
});

test("a tool that another middleware brings is judged, too", async () => {
  const own = session();
  const ran = [];
  const extra = createMiddleware({ name: "extra", tools: [noted("refund", ran)] });
  const model = await play(guardMiddleware(own), [], [[call("refund", { order: "A", amount: 1 }, "c1")]], { before: [extra] });
  assert.match(model.answers.c1, /requires `verify`/);
  assert.deepEqual(ran, []);
});

test("a session is chosen by the run's configuration", async () => {
  const sessions = { a: session(), b: session() };
  const guard = guardMiddleware(({ configurable }) => sessions[configurable.thread_id]);
  const run = (thread_id) => play(guard, [noted("ping", [])], [[call("ping", {}, "c1")]], { configurable: { thread_id } });
  for (const who of ["a", "b"]) await run(who);
  assert.deepEqual([outcomes(sessions.a), outcomes(sessions.b)], [{ c1: "success" }, { c1: "success" }]);
  await assert.rejects(run("c"), GuardError);
});
