// The adapter for the OpenAI Agents SDK, through the framework's own loop with its own scripted model.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Handoff, applyPatchTool, computerTool, handoff, setTracingDisabled, shellTool, tool, toolSearchTool, webSearchTool } from "@openai/agents";
import { SandboxAgent } from "@openai/agents/sandbox";
import { ScriptedModel, assistantMessage, functionCall } from "@openai/agents/testing";
import { z } from "zod";
import { ArgumentError, Guard, GuardError } from "../lib/index.mjs";
import { Guarded } from "../integrations/openai-agents.mjs";
import { REFUNDS, deferred, outcomes, settledTasks } from "./shared.mjs";

setTracingDisabled(true);

const call = (name, args, callId) => functionCall(name, args, { callId });
const guarded = (source = REFUNDS, options) => new Guarded(Guard.compile(source).session("s"), options);
const session = (source = REFUNDS) => Guard.compile(source).session("s");
const anything = { strict: false, parameters: { type: "object", properties: {}, required: [], additionalProperties: true } };

/** A tool that notes what it ran with. */
function noted(guard, name, ran, options = {}) {
  return guard.tool({ name, description: name, ...anything, execute: (args) => { ran.push(args); return `${name} ran`; }, ...options });
}

/** What the model was shown in answer to its calls, at its last turn. */
function shown(model) {
  const results = model.lastCall.request.input.filter((item) => item.type === "function_call_result");
  return Object.fromEntries(results.map((item) => [item.callId, item.output.text]));
}

async function play(guard, tools, turns, options) {
  const model = new ScriptedModel([...turns, [assistantMessage("done")]]);
  const agent = new Agent({ name: "agent", model, tools });
  const result = await guard.run(agent, "Do it.", options);
  return { model, result };
}

test("a denied call is told why, and an allowed one runs", async () => {
  const own = session();
  const guard = new Guarded(own);
  const ran = [];
  const tools = [noted(guard, "refund", ran), noted(guard, "verify", ran)];
  const { model, result } = await play(guard, tools, [
    [call("refund", { order: "A", amount: 1 }, "c1")], [call("verify", { code: "1" }, "c2")], [call("refund", { order: "A", amount: 1 }, "c3")],
  ]);
  assert.equal(result.finalOutput, "done");
  assert.deepEqual(shown(model), { c1: "`refund` requires `verify` (call `verify` first)", c2: "verify ran", c3: "refund ran" });
  assert.deepEqual([ran, outcomes(own)], [[{ code: "1" }, { order: "A", amount: 1 }], { c2: "success", c3: "success" }]);
});

test("a stream is guarded as a run is, and a blocked stop goes on", async () => {
  const guard = guarded("guard g\nstate { done: bool = false }\ntool work() { effect done = true }\ncompletion { done }");
  const ran = [];
  const model = new ScriptedModel([[assistantMessage("early")], [call("work", {}, "c1")], [assistantMessage("done")]]);
  const events = [];
  for await (const event of guard.stream(new Agent({ name: "a", model, tools: [noted(guard, "work", ran)] }), "Do it.")) events.push(event.type);
  assert.ok(events.includes("run_item_stream_event"));
  assert.deepEqual([ran.length, guard.stopped.allowed], [1, true]);
  await assert.rejects(guard.run(new Agent({ name: "a", model }), "x", { stream: true }), ArgumentError);
});

test("a call that both hides behind defaults is judged as it runs", async () => {
  const guard = guarded('guard g\ntool pay(amount: int?) { deny when (amount else 1) > 10 because "too much" }');
  const ran = [];
  const pay = noted(guard, "pay", ran, { strict: true, parameters: z.object({ amount: z.number().default(50) }) });
  const { model } = await play(guard, [pay], [[call("pay", {}, "c1")], [call("pay", { amount: 5 }, "c2")]]);
  assert.match(shown(model).c1, /too much/);
  assert.deepEqual(ran, [{ amount: 5 }]);
});

test("integers that a number cannot hold are judged as both, or run as they are", async () => {
  const source = 'guard g\ntool pick(n: int) { deny when n == 9007199254740992 because "even" }';
  const text = '{"n": 9007199254740993}';
  for (const [integers, expected] of [["number", []], ["bigint", [{ n: 9007199254740993n }]]]) {
    const guard = guarded(source, { integers });
    const ran = [];
    await play(guard, [noted(guard, "pick", ran)], [[call("pick", text, "c1")]]);
    assert.deepEqual(ran, expected);
  }
});

test("what the framework refuses is put to the guard, and does not run", async () => {
  const own = session();
  const guard = new Guarded(own);
  const ran = [];
  const verify = noted(guard, "verify", ran, { strict: true, parameters: z.object({ code: z.string() }) });
  const { model } = await play(guard, [verify], [[call("nothing", {}, "c1"), call("verify", { code: 5 }, "c2"), call("verify", "{", "c3"), call("verify", "[]", "c4")]]);
  assert.match(shown(model).c1, /declares no tool `nothing`/);
  for (const id of ["c2", "c3", "c4"]) assert.match(shown(model)[id], /code|object|arguments/, id);
  assert.deepEqual([ran, outcomes(own), own.inFlight], [[], {}, []]);
});

for (const [how, execute] of Object.entries({ "an error": () => { throw new Error("boom"); }, "a rejection": async () => { throw new Error("boom"); } })) {
  test(`${how} of a tool is a failure, and the run goes on`, async () => {
    const own = session();
    const guard = new Guarded(own);
    const ping = noted(guard, "ping", [], { execute });
    const loud = noted(guard, "ping", [], { execute, errorFunction: (context, error) => `it said ${error.message}` });
    assert.match(shown((await play(guard, [ping], [[call("ping", {}, "c1")]])).model).c1, /An error occurred/);
    assert.match(shown((await play(guard, [loud], [[call("ping", {}, "c2")]])).model).c2, /it said boom/);
    assert.deepEqual(outcomes(own), { c1: "failure", c2: "failure" });
  });
}

test("a tool that times out is settled as failed", async () => {
  const own = session();
  const guard = new Guarded(own);
  const ping = noted(guard, "ping", [], { timeoutMs: 1, execute: () => new Promise(() => {}) });
  const { model } = await play(guard, [ping], [[call("ping", {}, "c1")]]);
  assert.match(shown(model).c1, /timed out/);
  assert.deepEqual([outcomes(own), own.inFlight], [{ c1: "failure" }, []]);
});

test("a run that is cancelled leaves no call in flight", async () => {
  const own = session();
  const guard = new Guarded(own);
  const began = deferred();
  const stop = new AbortController();
  const ping = noted(guard, "ping", [], { execute: () => { began.resolve(); return new Promise(() => {}); } });
  const run = play(guard, [ping], [[call("ping", {}, "c1")]], { signal: stop.signal });
  await began.promise;
  stop.abort();
  await assert.rejects(run);
  assert.deepEqual([outcomes(own), own.inFlight], [{ c1: "failure" }, []]);
});

test("an engine that fails ends the run, and nothing runs", async () => {
  const own = session();
  const guard = new Guarded(own);
  const ran = [];
  const break_ = noted(guard, "ping", ran, { execute: () => { try { own._panic(); } catch { /* as a tool might */ } } });
  await assert.rejects(play(guard, [break_, noted(guard, "verify", ran)], [[call("ping", {}, "c1")], [call("verify", { code: "1" }, "c2")]]));
  assert.deepEqual(ran, []);
  const closed = session();
  closed.close();
  await assert.rejects(play(new Guarded(closed), [], [[assistantMessage("x")]]), GuardError);
});

test("a person is asked, one call after another, or the model is told", async () => {
  const asked = [];
  const approve = async (pending, role) => { asked.push(`${role} ${pending.args.order}`); await settledTasks(); return pending.args.order === "A" ? { by: "ida" } : undefined; };
  for (const [options, runs] of [[{ approve }, 1], [{}, 0]]) {
    const guard = guarded(REFUNDS, options);
    const ran = [];
    const turns = [[call("verify", { code: "1" }, "c1")], [call("refund", { order: "A", amount: 150 }, "c2"), call("refund", { order: "B", amount: 150 }, "c3")]];
    const { model } = await play(guard, [noted(guard, "refund", ran), noted(guard, "verify", [])], turns);
    assert.equal(ran.length, runs);
    assert.match(shown(model).c3, /needs the approval of boss/);
  }
  assert.deepEqual(asked, ["boss A", "boss B"]);
});

test("two calls with one id do not run on one verdict", async () => {
  const own = session();
  const guard = new Guarded(own);
  let runs = 0;
  const ping = noted(guard, "ping", [], { execute: async () => { runs += 1; await settledTasks(); } });
  const { result } = await play(guard, [ping], [[call("ping", {}, "same"), call("ping", {}, "same")]]).catch((error) => ({ result: error }));
  assert.ok(result);
  assert.ok(runs <= 1 || Object.keys(outcomes(own)).length === runs, `${runs} runs`);
  assert.deepEqual(own.inFlight, []);
});

test("an agent with a tool that no guard stands around does not run", async () => {
  const guard = guarded();
  const open = tool({ name: "open", description: "", ...anything, execute: () => assert.fail("it ran") });
  const model = new ScriptedModel([[call("open", {}, "c1")]]);
  await assert.rejects(guard.run(new Agent({ name: "a", model, tools: [open] }), "x"), /no guard stands around `open`/);
  const inner = new Agent({ name: "inner", model, tools: [open] });
  await assert.rejects(guard.run(new Agent({ name: "outer", model, handoffs: [guard.handoff(inner)] }), "x"), /`open`/);
  await assert.rejects(guard.run(new Agent({ name: "a", model, mcpServers: [{ name: "m" }] }), "x"), /MCP/);
  const warned = new Promise((resolve) => process.once("warning", resolve));
  await guard.run(new Agent({ name: "a", model: new ScriptedModel([[assistantMessage("x")]]), tools: [webSearchTool()] }), "x");
  assert.equal((await warned).code, "UNGUARDED_TOOL");
});

test("a tool that is not a function is refused, unless it runs at the provider", async () => {
  const guard = guarded();
  const forbidden = () => assert.fail("it ran");
  const local = [
    shellTool({ name: "refund", shell: { run: forbidden } }),
    shellTool({ name: "refund", environment: { type: "container_auto" } }),
    applyPatchTool({ name: "refund", editor: {} }),
    computerTool({ name: "refund", computer: {} }),
    toolSearchTool({ execution: "client", execute: forbidden }),
    { type: "another", name: "refund" },
  ];
  for (const tool of local) {
    const model = new ScriptedModel([[assistantMessage("x")]]);
    await assert.rejects(guard.run(new Agent({ name: "a", model, tools: [tool] }), "x"), /no guard stands around `(refund|tool_search)`/);
    assert.equal(model.calls.length, 0);
  }
  const sandboxed = new SandboxAgent({ name: "a", model: new ScriptedModel([[assistantMessage("x")]]) });
  await assert.rejects(guard.run(sandboxed, "x"), /sandbox agent/);
});

test("a handoff that may run a function, or that has the name of a tool, is refused", async () => {
  const guard = guarded();
  const second = new Agent({ name: "second", model: new ScriptedModel([[assistantMessage("done")]]) });
  const forbidden = () => assert.fail("it ran");
  const anyInput = { type: "object", properties: {}, required: [], additionalProperties: true };
  const replaced = guard.handoff(second);
  replaced.onInvokeHandoff = forbidden;
  const made = [
    [handoff(second, { onHandoff: forbidden, inputType: z.object({ amount: z.number() }) }), /no guard stands around the handoff/],
    [handoff(second, { onHandoff: forbidden, inputType: anyInput }), /no guard stands around the handoff/],
    [handoff(second, { onHandoff: forbidden }), /no guard stands around the handoff/],
    [new Handoff(second, forbidden), /no guard stands around the handoff/],
    [guard.handoff(second).clone({ onInvokeHandoff: forbidden }), /no guard stands around the handoff/],
    [replaced, /no guard stands around the handoff/],
    [guard.handoff(second, { toolNameOverride: "refund" }), /the name of a tool/],
  ];
  for (const [each, expected] of made) {
    const model = new ScriptedModel([[call(each.toolName, { amount: 5 }, "c1")]]);
    await assert.rejects(guard.run(new Agent({ name: "first", model, handoffs: [each] }), "x"), expected);
    assert.equal(model.calls.length, 0);
  }
  assert.throws(() => guard.handoff(second, { onHandoff: forbidden }), ArgumentError);
  for (const each of [second, guard.handoff(second, { inputFilter: (data) => data })]) {
    second.model = new ScriptedModel([[assistantMessage("done")]]);
    const model = new ScriptedModel([[call("transfer_to_second", {}, "c1")]]);
    assert.equal((await guard.run(new Agent({ name: "first", model, handoffs: [each] }), "x")).finalOutput, "done");
  }
});

test("a session is chosen by the run's context", async () => {
  const sessions = { a: Guard.compile(REFUNDS).session("a"), b: Guard.compile(REFUNDS).session("b") };
  const guard = new Guarded((context) => sessions[context.who]);
  const ping = noted(guard, "ping", []);
  for (const who of ["a", "b"]) await play(guard, [ping], [[call("ping", {}, "c1")]], { context: { who } });
  assert.deepEqual([outcomes(sessions.a), outcomes(sessions.b)], [{ c1: "success" }, { c1: "success" }]);
  await assert.rejects(play(guard, [ping], [[call("ping", {}, "c1")]], { context: {} }), GuardError);
});

test("a tool that is added to an agent in the middle of a run does not escape", async () => {
  const guard = guarded();
  const open = tool({ name: "open", description: "", ...anything, execute: () => assert.fail("it ran") });
  const model = new ScriptedModel([[call("ping", {}, "c1")], [call("open", {}, "c2")], [assistantMessage("done")]]);
  const agent = new Agent({ name: "a", model, tools: [noted(guard, "ping", [], { execute: () => { agent.tools.push(open); } })] });
  await assert.rejects(guard.run(agent, "x"), /no guard stands around `open`/);
});
