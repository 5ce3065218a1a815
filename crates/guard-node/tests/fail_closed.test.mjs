// Attempts to get a call through a guard that is broken, closed, locked or shared in ways that it is not made for.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { ArgumentError, Broken, Closed, Guard, GuardError, Session, SessionError, SourceError } from "../lib/index.mjs";
import { REFUNDS, SHARED, deferred, folder, refunds, refusesEverything, settledTasks } from "./shared.mjs";

const PACKAGE = JSON.stringify(new URL("../lib/index.js", import.meta.url).pathname);
const require = createRequire(import.meta.url);

test("a panic of the engine is an error and breaks the session", async () => {
  const session = refunds();
  assert.throws(() => session._panic(), { name: "Broken", message: /on request/, code: "engine_failed" });
  await refusesEverything(session, Broken);
  assert.equal(session.isClosed, true);
});

test("a panic in the middle of a call lets nothing through", async () => {
  const session = refunds();
  const run = session.call("ping", {}, () => { try { session._panic(); } catch { /* a tool that swallows it */ } return "pong"; });
  await assert.rejects(run, Broken);
  await refusesEverything(session, Broken);
});

test("an answer that is none is no answer", async () => {
  const { answer } = require("../lib/engine.js");
  for (const reply of [undefined, null, "", "allow", "a", {}, 5, "!", "!{}", '!{"class":"constructor"}', '!{"class":"__proto__","message":"x"}']) {
    assert.throws(() => answer(reply), Broken, String(reply));
  }
  assert.equal(answer("="), "");
});

test("a closed session refuses", async () => {
  const session = refunds();
  session.close();
  session.close();
  assert.equal(session.isClosed, true);
  await refusesEverything(session, Closed);
  for (const ask of [() => session.state, () => session.records(), () => session.snapshot(), () => session.stop(), () => session.prompt("x")]) {
    assert.throws(ask, Closed);
  }
});

test("a session that is closed in the middle of a call fails the call", async () => {
  const session = refunds();
  await assert.rejects(session.call("ping", {}, () => { session.close(); return "pong"; }), Closed);
  const failing = refunds();
  const error = await failing.call("ping", {}, () => { failing.close(); throw new RangeError("tool"); }).catch((error) => error);
  assert.ok(error instanceof Closed && error.cause instanceof RangeError);
});

test("an abort stays an abort where the settlement fails", async () => {
  const session = refunds();
  const stop = new AbortController();
  const call = session.call("ping", {}, () => { session.close(); stop.abort(); return new Promise(() => {}); }, { signal: stop.signal });
  await assert.rejects(call, { name: "AbortError" });
});

for (const answer of ["noon", null, undefined, NaN, Infinity, [], "2026-01-05", 5n, new Date(NaN), 1e300]) {
  test(`a clock that says ${String(answer)} refuses`, async () => {
    const times = [1];
    await refusesEverything(refunds({ clock: () => (times.length ? times.pop() : answer) }), ArgumentError);
    assert.throws(() => refunds({ clock: () => answer }), ArgumentError);
  });
}

test("an error of the clock or of the probes reaches the caller", async () => {
  const times = [1];
  await refusesEverything(refunds({ clock: () => { if (times.length) return times.pop(); throw new RangeError("clock"); } }), RangeError);
  await refusesEverything(refunds({ probes: () => { throw new RangeError("probes"); } }), RangeError);
});

for (const fault of [() => { throw new RangeError("clock"); }, () => "noon"]) {
  for (const outcome of ["success", "failure"]) {
    test(`a call that ran is settled as a ${outcome} before a stop, when ${fault}`, async () => {
      let fails = false;
      const clock = () => (fails ? fault() : 1);
      const session = Guard.compile("guard g\ntool ping() { returns string }").session("s", { clock });
      const run = session.call("ping", {}, () => {
        fails = true;
        if (outcome === "failure") throw new Error("tool");
        return "pong";
      });
      await assert.rejects(run);
      await assert.rejects(session.promises.stop());
      assert.throws(() => session.stop());
      fails = false;
      assert.equal(session.stop().allowed, true);
      const settled = session.records().map((line) => JSON.parse(line)).find(({ kind }) => kind === "settle").payload;
      assert.deepEqual([session.inFlight, settled.success, settled.result], [[], outcome === "success", outcome === "success" ? "pong" : settled.result]);
    });
  }
}

test("a clock that fails once does not make a result unreadable, nor a failure a success", async () => {
  for (const outcome of ["success", "failure"]) {
    const times = [1, 1, "noon"];
    const session = Guard.compile("guard g\ntool ping() { returns string }").session("s", { clock: () => times.shift() ?? 1 });
    const run = session.call("ping", {}, () => { if (outcome === "failure") throw new Error("tool"); return "pong"; });
    await assert.rejects(run, ArgumentError);
    await session.promises.stop();
    const settled = session.records().map((line) => JSON.parse(line)).find(({ kind }) => kind === "settle").payload;
    assert.equal(settled.success, outcome === "success");
    if (outcome === "success") assert.equal(settled.result, "pong");
  }
});

test("a result that throws while it is read is one that does not decode", async () => {
  const session = refunds();
  const result = { get member() { throw new RangeError("no"); } };
  assert.equal(await session.call("ping", {}, () => result), result);
  assert.deepEqual(session.inFlight, []);
});

for (const answer of [1, [], null, "text", { ready: new Set() }, { ready: NaN }, new Map()]) {
  test(`probes that answer ${JSON.stringify(answer)} refuse`, () => refusesEverything(refunds({ probes: () => answer }), ArgumentError));
}

test("probes that the guard does not declare refuse", () => refusesEverything(refunds({ probes: () => ({ readyness: true }) }), SessionError));

test("an asynchronous clock is for asynchronous calls", async () => {
  const session = Guard.compile(REFUNDS).session("s", { probes: async () => ({}) });
  assert.throws(() => session.propose("ping"), ArgumentError);
  assert.equal(await session.call("ping", {}, () => "pong"), "pong");
  assert.equal((await session.promises.stop()).allowed, true);
});

test("an option that does not exist is an error", () => {
  assert.throws(() => refunds({ workpace: "/" }), /no option `workpace`/);
  assert.throws(() => refunds({ workspace: 5 }), ArgumentError);
  assert.throws(() => refunds({ workspace: "/nowhere/at/all" }), SessionError);
});

test("a store that another process holds refuses", async () => {
  const store = folder();
  const code = `const { Guard } = require(${PACKAGE}); globalThis.s = Guard.compile(${JSON.stringify(REFUNDS)}).session("s1", { store: ${JSON.stringify(store)} }); console.log("open"); process.stdin.resume();`;
  const holder = spawn(process.execPath, ["-e", code], { stdio: ["pipe", "pipe", "inherit"] });
  try {
    await new Promise((resolve) => holder.stdout.once("data", resolve));
    assert.throws(() => refunds({ store }), { name: "SessionError", code: "journal_locked" });
  } finally {
    holder.stdin.end();
    await new Promise((resolve) => holder.once("exit", resolve));
  }
});

test("a store that is removed in mid-run refuses", async () => {
  const store = folder();
  const session = refunds({ store });
  assert.ok(session.propose("verify", { code: "1" }, { call: "c" }).allowed);
  rmSync(store, { recursive: true });
  writeFileSync(store, "not a folder");
  assert.throws(() => session.settle("c"), GuardError);
  await refusesEverything(session, GuardError);
});

test("a settlement that fails is not hidden by a result", async () => {
  const store = folder();
  const session = refunds({ store });
  const ping = session.tool("ping", () => { rmSync(store, { recursive: true }); writeFileSync(store, "not a folder"); return "done"; });
  await assert.rejects(ping({}), GuardError);
});

test("events of a stored session keep their order beside the event loop", async () => {
  const session = refunds({ store: folder() });
  const verdicts = Promise.all([1, 2, 3, 4].map((n) => session.promises.propose("ping", {}, { call: `c${n}` })));
  const mixed = session.propose("refund", { order: "A", amount: 1 });
  assert.equal(mixed.decision, "deny");
  assert.deepEqual((await verdicts).map(({ call, decision }) => `${call} ${decision}`), ["c1 allow", "c2 allow", "c3 deny", "c4 deny"]);
  session.close();
});

test("closing while events are on their way refuses the rest", async () => {
  const session = refunds({ store: folder() });
  const asked = Array.from({ length: 20 }, () => session.promises.propose("ping").then((verdict) => verdict.decision, (error) => error.name));
  session.close();
  const found = await Promise.all(asked);
  assert.equal(found.at(-1), "Closed");
  await refusesEverything(session, Closed);
});

test("a session cannot be sent to another thread", () => {
  const session = refunds();
  assert.throws(() => structuredClone(session), { name: "DataCloneError" });
  assert.throws(() => Session.prototype.propose.call({}, "ping"), TypeError);
  assert.throws(() => Session.prototype.propose.call(Object.create(session), "ping"), TypeError);
});

const worker = (body) => new Worker(`const { Guard } = require(${PACKAGE}); const { parentPort } = require("node:worker_threads");\n${body}`, { eval: true });
const said = (thread) => new Promise((resolve, reject) => thread.once("message", resolve).once("error", reject));

test("threads have guards and sessions of their own, and a plan travels between them", async () => {
  const plan = Guard.compile(REFUNDS).planBytes();
  const threads = Array.from({ length: 4 }, () => {
    const thread = worker(`parentPort.once("message", (plan) => {
      const session = Guard.fromPlan(plan).session("s");
      parentPort.postMessage([1, 2, 3].map(() => session.propose("ping").decision).join());
    });`);
    thread.postMessage(plan);
    return thread;
  });
  assert.deepEqual(await Promise.all(threads.map(said)), Array(4).fill("allow,allow,deny"));
  await Promise.all(threads.map((thread) => thread.terminate()));
});

test("two threads do not both have a stored session", async () => {
  const store = folder();
  const session = refunds({ store });
  const thread = worker(`try { Guard.compile(${JSON.stringify(REFUNDS)}).session("s1", { store: ${JSON.stringify(store)} }); parentPort.postMessage("open") } catch (error) { parentPort.postMessage(error.code) }`);
  assert.equal(await said(thread), "journal_locked");
  session.close();
});

test("a thread that is terminated in the middle of an event harms nobody", async () => {
  for (let round = 0; round < 5; round += 1) {
    const thread = worker(`const session = Guard.compile(${JSON.stringify(SHARED)}).session("s", { store: ${JSON.stringify(folder())} });
      parentPort.postMessage("go");
      for (let n = 0; n < 200; n++) session.promises.propose("other");`);
    await said(thread);
    await thread.terminate();
  }
  assert.ok(refunds().propose("ping").allowed);
});

test("a call that waits for ever does not keep its session from being collected with the process", () => {
  const code = `const { Guard } = require(${PACKAGE}); const s = Guard.compile(${JSON.stringify(SHARED)}).session("s", { wait: Infinity });
    s.propose("write", { n: 1 }); s.call("write", { n: 2 }, () => console.log("it ran")); console.log("end");`;
  assert.equal(execFileSync(process.execPath, ["-e", code], { encoding: "utf8" }), "end\n");
});

test("a guard with errors says what `guardc check` says", () => {
  const error = (() => { try { Guard.compile("guard demo\ntool ship() { requires tset }\ntool test()", { path: "demo.guard" }); } catch (error) { return error; } })();
  assert.ok(error instanceof SourceError);
  assert.equal(error.message, "error[G0111]: unknown tool `tset`\n  --> demo.guard:2:24\n  2 | tool ship() { requires tset }\n    |                        ^^^^\n  help: did you mean `test`?\n  fix: replace `tset` with `test`");
});

test("a plan that was damaged, or is of another version, is refused", () => {
  const plan = Guard.compile(REFUNDS).planBytes();
  for (let at = 0; at < plan.length; at += Math.max(1, Math.floor(plan.length / 60))) {
    plan[at] ^= 0x55;
    assert.throws(() => Guard.fromPlan(plan), SourceError, `byte ${at}`);
    plan[at] ^= 0x55;
  }
  assert.equal(Guard.fromPlan(new Uint8Array(plan)).name, "refunds");
  assert.throws(() => Guard.fromPlan("text"), ArgumentError);
  assert.throws(() => Guard.fromPlan(new Uint8Array(0)), SourceError);
});

test("a guard that cannot be read is an error", () => {
  const here = folder();
  assert.throws(() => Guard.load(`${here}/none.guard`), /no such file/);
  assert.throws(() => Guard.load(here), /directory/);
  writeFileSync(`${here}/binary.guard`, Buffer.from([0xff, 0xfe]));
  assert.throws(() => Guard.load(`${here}/binary.guard`), /UTF-8/);
  assert.throws(() => new Guard({}), ArgumentError);
});

test("snapshots go on where they were, and nowhere else", () => {
  const session = refunds();
  session.settle(session.propose("verify", { code: "1" }).call);
  const snapshot = session.snapshot();
  const resumed = session.guard.session("s1", { snapshot });
  assert.deepEqual([resumed.isResumed, resumed.propose("refund", { order: "A", amount: 1 }).decision], [true, "allow"]);
  assert.equal(session.guard.session("s1", { trace: session.records() }).isResumed, true);
  for (const bad of [snapshot.subarray(0, -1), Buffer.alloc(10), new Uint8Array()]) {
    assert.throws(() => session.guard.session("s1", { snapshot: bad }), SessionError);
  }
  assert.throws(() => Guard.compile(SHARED).session("s1", { snapshot }), SessionError);
});

test("a trace that says something else names its record", () => {
  const session = refunds();
  session.settle(session.propose("verify", { code: "1" }).call);
  const trace = session.records();
  const damaged = trace.map((line, seq) => (seq === 2 ? line.replace('"success"', '"failure"') : line));
  assert.notDeepEqual(damaged, trace);
  const of = (seq) => (error) => error instanceof SessionError && error.seq === seq;
  assert.throws(() => session.guard.session("s1", { trace: damaged }), of(2));
  assert.throws(() => session.guard.session("s1", { trace: [] }), of(undefined));
});

test("both kinds of modules have the same classes", async () => {
  const common = require("../lib/index.js");
  assert.equal(common.Guard, Guard);
  assert.deepEqual(Object.keys(common).sort(), Object.keys(await import("../lib/index.mjs")).sort());
});

test("no unhandled rejection is left behind", async () => {
  const session = refunds();
  const stop = new AbortController();
  const began = deferred();
  const call = session.call("ping", {}, async () => { began.resolve(); await settledTasks(); throw new Error("late"); }, { signal: stop.signal });
  await began.promise;
  stop.abort();
  await assert.rejects(call, { name: "AbortError" });
  await settledTasks();
  await settledTasks();
});
