// Scopes and guarded functions: what settles a call, and who waits for whom.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { ApprovalNeeded, ArgumentError, Closed, Denied, Guard, GuardError, PendingApproval, Served, SessionError, Store, WaitTimeout } from "../lib/index.mjs";
import { REFUNDS, deferred, folder, outcomes, refunds, settledTasks, shared } from "./shared.mjs";
import { jsonOf, judged } from "../integrations/shared.mjs";

const stores = { "in memory": () => ({}), "in a store": () => ({ store: folder() }) };

for (const [where, options] of Object.entries(stores)) {
  test(`a call settles success and failure, ${where}`, async () => {
    const session = refunds(options());
    assert.deepEqual(await session.call("ping", {}, () => ({ a: 1 }), { call: "good" }), { a: 1 });
    await assert.rejects(session.call("ping", {}, () => { throw new RangeError("bad"); }, { call: "bad" }), RangeError);
    assert.deepEqual(outcomes(session), { good: "success", bad: "failure" });
  });

  test(`twenty calls that exclude each other run in their order, ${where}`, async () => {
    const session = shared(options());
    const order = [];
    let inside = 0;
    const write = (n) => session.call("write", { n }, async () => {
      assert.equal(++inside, 1);
      order.push(n);
      await settledTasks();
      inside -= 1;
    });
    await Promise.all(Array.from({ length: 20 }, (_, n) => write(n)));
    assert.deepEqual(order, Array.from({ length: 20 }, (_, n) => n));
    assert.equal(session.state.state.total, 190);
    session.close();
  });

  test(`an abort settles as a failure, even where the tool never ends, ${where}`, async () => {
    const session = refunds(options());
    const stop = new AbortController();
    const began = deferred();
    let seen;
    const call = session.call("ping", {}, (args, { signal }) => { seen = signal; began.resolve(); return new Promise(() => {}); }, { call: "c", signal: stop.signal });
    await began.promise;
    assert.deepEqual(session.inFlight, ["c"]);
    stop.abort(new Error("enough"));
    await assert.rejects(call, /enough/);
    assert.ok(seen.aborted);
    assert.deepEqual([outcomes(session), session.inFlight], [{ c: "failure" }, []]);
    session.close();
  });
}

for (const thrown of [new Error("e"), null, undefined, "text", 5]) {
  test(`whatever is thrown settles as a failure: ${thrown}`, async () => {
    const session = refunds();
    const error = await session.call("ping", {}, () => { throw thrown; }, { call: "c" }).then(() => "none", (error) => error);
    assert.equal(error, thrown);
    assert.deepEqual(outcomes(session), { c: "failure" });
  });
}

test("a time-out settles as a failure and aborts the tool's signal", async () => {
  const session = refunds();
  let seen;
  const call = session.call("ping", {}, (args, { signal }) => { seen = signal; return new Promise(() => {}); }, { call: "c", timeout: 1 });
  await assert.rejects(call, { name: "TimeoutError", message: "`ping` did not end within 1 ms" });
  assert.equal(seen.reason.name, "TimeoutError");
  assert.deepEqual(outcomes(session), { c: "failure" });
  for (const timeout of [0, -1, NaN, "soon"]) await assert.rejects(session.call("ping", {}, () => 1, { timeout }), ArgumentError);
});

test("a signal that is aborted before proposes nothing", async () => {
  const session = refunds();
  const before = session.head;
  await assert.rejects(session.call("ping", {}, () => 1, { signal: AbortSignal.abort() }), { name: "AbortError" });
  assert.deepEqual(session.head, before);
  await assert.rejects(session.call("ping", {}, () => 1, { signal: {} }), ArgumentError);
});

test("a signal that is aborted during the proposal runs nothing", async () => {
  const stop = new AbortController();
  const session = refunds({ probes: async () => { stop.abort(); return {}; } });
  await assert.rejects(session.call("ping", {}, () => assert.fail("it ran"), { call: "c", signal: stop.signal }), { name: "AbortError" });
  assert.deepEqual(session.inFlight, []);
});

test("a signal that is aborted while the call waits gives up its place", async () => {
  const session = shared();
  const { call } = session.propose("write", { n: 1 });
  const stop = new AbortController();
  const waiting = session.call("write", { n: 2 }, () => assert.fail("it ran"), { signal: stop.signal });
  const next = session.call("write", { n: 4 }, () => 4);
  await settledTasks();
  stop.abort();
  await assert.rejects(waiting, { name: "AbortError" });
  session.settle(call);
  assert.equal(await next, 4);
  assert.deepEqual([session.state.state.total, session.inFlight], [5, []]);
});

test("an abort in the moment in which the turn comes settles the call", async () => {
  const session = shared();
  const { call } = session.propose("write", { n: 1 });
  const stop = new AbortController();
  const waiting = session.call("write", { n: 2 }, () => assert.fail("it ran"), { signal: stop.signal, call: "late" });
  await settledTasks();
  session.settle(call);
  stop.abort();
  await assert.rejects(waiting, { name: "AbortError" });
  assert.deepEqual([session.inFlight, session.state.state.total], [[], 1]);
});

test("a settlement by hand wakes, and so does one in the middle of an admission", async () => {
  const session = shared();
  for (let round = 0; round < 50; round += 1) {
    const { call } = session.propose("write", { n: 1 });
    const waiting = session.call("write", { n: 1 }, () => "ran");
    for (let turns = 0; turns < round % 10; turns += 1) await null;
    session.settle(call);
    assert.equal(await waiting, "ran");
  }
  assert.equal(session.state.state.total, 100);
});

test("calls that wait are not passed for ever", async () => {
  const session = shared();
  const held = session.propose("write", { n: 1 }).call;
  let ended = 0;
  const waiting = session.call("write", { n: 1 }, () => ended);
  await settledTasks();
  const others = Array.from({ length: 40 }, () => session.call("other", {}, () => (ended += 1)));
  await settledTasks();
  await settledTasks();
  assert.equal(ended, 16);
  session.settle(held);
  await waiting;
  await Promise.all(others);
  assert.equal(ended, 40);
});

test("a wait that is too long throws, and nothing runs", async () => {
  const session = shared({ wait: 1 });
  session.propose("write", { n: 1 }, { call: "held" });
  const error = await session.call("write", { n: 2 }, () => assert.fail("it ran")).catch((error) => error);
  assert.ok(error instanceof WaitTimeout && error instanceof Denied);
  assert.equal(error.verdict.decision, "wait");
  await assert.rejects(shared({ wait: 0 }).call("write", { n: 2 }, () => 1).then(() => Promise.reject(new WaitTimeout({ message: "ran" }))), WaitTimeout);
  assert.throws(() => shared({ wait: NaN }), ArgumentError);
});

test("closing ends the waits", async () => {
  const session = shared();
  session.propose("write", { n: 1 });
  const waiting = session.call("write", { n: 2 }, () => assert.fail("it ran"));
  await settledTasks();
  session.close();
  await assert.rejects(waiting, Closed);
});

test("a nested call does not wait for itself", async () => {
  const session = shared();
  await session.call("write", { n: 1 }, async () => {
    await assert.rejects(session.call("write", { n: 2 }, () => 1), WaitTimeout);
  });
  assert.deepEqual(session.inFlight, []);
});

test("a session that another process settles is looked at again", async () => {
  const session = shared({ store: folder() });
  const held = session.propose("write", { n: 1 }).call;
  const waiting = session.call("write", { n: 2 }, () => "ran");
  await settledTasks();
  // Not through the session's own door, which would wake: as another process would.
  await session.settleQuietly(held, "success");
  assert.equal(await waiting, "ran");
  session.close();
});

test("a guarded function runs what was judged and answers denials as chosen", async () => {
  const session = refunds();
  const refund = session.tool("refund", ({ order, amount }) => `${order}: ${amount}`);
  const quiet = session.tool("refund", () => assert.fail("it ran"), { denied: "message" });
  await assert.rejects(refund({ order: "A", amount: 1 }), Denied);
  assert.equal(await quiet({ order: "A", amount: 1 }), "`refund` requires `verify` (call `verify` first)");
  await session.tool("verify", () => "ok")({ code: "1" });
  assert.equal(await refund({ order: "A", amount: 1 }), "A: 1");
  assert.throws(() => session.tool("refund", () => 1, { denied: "no" }), ArgumentError);
  assert.throws(() => session.tool("refund"), ArgumentError);
});

test("a denial inside of a tool is that tool's failure, not its own denial", async () => {
  const session = refunds();
  const outer = session.tool("ping", () => session.call("refund", { order: "A", amount: 1 }, () => 1), { denied: "message" });
  await assert.rejects(outer({}, { call: "outer" }), Denied);
  assert.deepEqual(outcomes(session), { outer: "failure" });
});

for (const [kind, make] of Object.entries({ generator: function* () { yield 1; }, "async generator": async function* () { yield 1; } })) {
  test(`a ${kind} is no result`, async () => {
    const session = refunds();
    await assert.rejects(session.call("ping", {}, make), /returned a generator/);
    assert.deepEqual(session.inFlight, []);
  });
}

test("a scope is for one call", async () => {
  const session = refunds();
  const scope = await session.scope("ping").enter();
  await scope.succeed("pong");
  await assert.rejects(scope.enter(), ArgumentError);
  await assert.rejects(scope.succeed(1), ArgumentError);
  await assert.rejects(session.scope("ping").fail(), ArgumentError);
});

test("a pending approval survives the process", async () => {
  const store = folder();
  const session = Guard.compile(REFUNDS).session("s1", { store });
  await session.call("verify", { code: "1" }, () => "ok");
  const error = await session.call("refund", { order: "A", amount: 150 }, () => assert.fail("it ran"), { call: "big" }).catch((error) => error);
  assert.ok(error instanceof ApprovalNeeded);
  const saved = JSON.stringify(error.pending);
  session.close();
  const code = `const { Guard, PendingApproval } = require(${JSON.stringify(new URL("../lib/index.js", import.meta.url).pathname)});
    const session = Guard.compile(${JSON.stringify(REFUNDS)}).session("s1", { store: ${JSON.stringify(store)} });
    const pending = PendingApproval.from(${JSON.stringify(saved)});
    console.log(session.proposePending(pending).decision);
    session.approvePending(pending, { by: "ida" });
    const verdict = session.proposePending(pending);
    console.log(verdict.decision, verdict.call, JSON.stringify(pending.args), pending.roles.join());`;
  const printed = execFileSync(process.execPath, ["-e", code], { encoding: "utf8" });
  assert.equal(printed, 'ask\nallow big {"order":"A","amount":150} boss\n');
  assert.deepEqual({ ...PendingApproval.from(saved) }, { ...error.pending });
  for (const bad of ["{}", "null", "5", '{"session": "s1"}']) assert.throws(() => PendingApproval.from(bad), ArgumentError);
  assert.throws(() => refunds().proposePending(new PendingApproval({ ...error.pending, session: "other" })), ArgumentError);
});

test("requests in the store are granted and refused", () => {
  const store = folder();
  const session = refunds({ store, approvals: true });
  session.settle(session.propose("verify", { code: "1" }).call);
  const asked = session.propose("refund", { order: "A", amount: 150 });
  assert.equal(asked.decision, "ask");
  const requests = new Store(store);
  assert.deepEqual(requests.requests("s1").map(({ id, state, args }) => [id, state, args]), [[asked.request, "open", { order: "A", amount: 150 }]]);
  assert.equal(requests.grant(asked.request, { by: "ida" }).state, "granted");
  assert.equal(session.proposePending(session.pending(asked)).decision, "allow");
  session.settle(asked.call);
  const other = session.propose("refund", { order: "B", amount: 150 });
  assert.equal(requests.reject(other.request, { by: "ida", reason: "too much" }).state, "refused");
  assert.match(session.propose("refund", { order: "B", amount: 150 }).message, /too much/);
  assert.throws(() => requests.grant("none", { by: "ida" }), SessionError);
  assert.equal(requests.has("s1"), true);
  assert.throws(() => new Store(folder(), { durability: "some" }), ArgumentError);
  assert.throws(() => refunds({ approvals: true }), ArgumentError);
  session.close();
});

test("usage is ignored where nothing is charged", () => {
  const session = Guard.compile("guard g\nbudget tokens = 100\ntool ping()").session("s");
  assert.equal(session.usage("tokens", 10), true);
  assert.equal(session.usage("dollars", 1), false);
  assert.equal(refunds().usage("tokens", 0.5), false);
  for (const amount of [NaN, Infinity, -1, "x", {}, 5e-7, undefined]) assert.throws(() => session.usage("tokens", amount), ArgumentError);
});

test("a tool that the guard serves runs nothing", async () => {
  const guard = Guard.load(new URL("../../../specs/seeds/compymac.guard", import.meta.url));
  const session = guard.session("s");
  const { name } = guard.tools.find((tool) => tool.served && tool.name.endsWith("_list"));
  const served = await session.scope(name).enter().catch((error) => error);
  assert.ok(served instanceof Served && served instanceof GuardError && served.verdict.isServed);
  assert.deepEqual(await session.call(name, {}, () => assert.fail("it ran")), served.verdict.served);
  assert.deepEqual(await session.tool(name, () => assert.fail("it ran"))({}), served.verdict.served);
  assert.deepEqual(session.inFlight, []);
});

test("transforms are for who can carry them out", async () => {
  const text = `guard t
    tool search(limit: int in 1..=1000) { transform limit = min(limit, 50) }
    record Row { name: string, card: string }
    tool rows() { returns list<Row>  transform result.card = "…" }`;
  const session = Guard.compile(text).session("s");
  const verdict = session.propose("search", { limit: 900 }, { call: "1" });
  assert.equal(verdict.decision, "deny");
  assert.deepEqual(JSON.parse(verdict.insteadText), { limit: 50 });
  assert.ok(session.propose("search", verdict.insteadText, { call: "1" }).allowed);
  assert.equal(session.settle("1", []).shownText, null);
  assert.ok(session.propose("rows", {}, { call: "2" }).allowed);
  assert.deepEqual(JSON.parse(session.settle("2", [{ name: "Ann", card: "4111" }]).shownText), [{ name: "Ann", card: "…" }]);
  // A scope hands the tool's result on as it is.
  await assert.rejects(session.call("rows", {}, () => assert.fail("the tool ran")), Denied);
  assert.deepEqual(session.inFlight, []);
});

const FORMS = `guard g
state { total: int = 0 }
tool write(n: int) { effect total = total + n }
tool pay(amount: int?, to: string?, note: string?) {
  deny when (amount else 0) > 1000 because "too much"
  deny when total > 5 and note is some because "no notes"
  approval boss when (amount else 0) > 100
  approval clerk when to is some
}`;
const forms = () => Guard.compile(FORMS).session("s");
const inForms = (session, real, written, roles) => session.scope("pay", real, { written: JSON.stringify(written), roles });

test("of the forms of a call the strictest is proposed", async () => {
  const cases = [
    [{ amount: 5 }, { amount: 2000 }, Denied, /too much/],
    [{ amount: 2000 }, { amount: 200 }, Denied, /too much/],
    [{ amount: 5 }, { amount: 200 }, ApprovalNeeded, { amount: 200 }],
    [{ amount: 200 }, { amount: 5 }, ApprovalNeeded, { amount: 200 }],
    [{ amount: 200 }, { amount: 300 }, ApprovalNeeded, { amount: 200 }],
    [{ amount: 200 }, { amount: 300, to: "ann" }, ApprovalNeeded, { amount: 300, to: "ann" }],
    [{ amount: 200 }, { to: "ann" }, ArgumentError, /approvals of different people/],
  ];
  for (const [real, written, kind, expected] of cases) {
    const error = await inForms(forms(), real, written).enter().catch((error) => error);
    assert.equal(error.constructor, kind, JSON.stringify([real, written]));
    if (kind === ApprovalNeeded) assert.deepEqual(error.pending.args, expected);
    else assert.match(error.message, expected);
  }
  const scope = await inForms(forms(), { amount: 5 }, { amount: 6 }).enter();
  assert.deepEqual(scope.args, { amount: 5 });
});

test("an approval of a form is for one call", async () => {
  for (const [real, written] of [[{ amount: 5 }, { amount: 200 }], [{ amount: 200 }, { amount: 5 }], [{ amount: 200 }, { amount: 300 }], [{ amount: 200 }, { amount: 300, to: "ann" }]]) {
    const session = forms();
    for (const _ of [1, 2]) {
      const error = await inForms(session, real, written).enter().catch((error) => error);
      assert.ok(error instanceof ApprovalNeeded, JSON.stringify([real, written]));
      session.approvePending(error.pending, { by: "ida" });
      await (await inForms(session, real, written, error.pending.roles).enter()).succeed();
    }
  }
});

test("both forms of a call that waited are judged again", async () => {
  const session = forms();
  const write = await session.scope("write", { n: 9 }).enter();
  const paying = assert.rejects(inForms(session, { amount: 5 }, { amount: 5, note: "x" }).enter(), /no notes/);
  await settledTasks();
  await write.succeed();
  await paying;
});

test("arguments that JSON would change are refused, and not judged as something else", () => {
  class Secret { #path = "/"; }
  for (const value of [Infinity, NaN, new Map([["a", 1]]), new Set([1]), () => 1, Symbol("a"), new Secret(), new Date(NaN), [undefined], /a/]) {
    assert.throws(() => jsonOf({ value }), ArgumentError, String(typeof value));
    assert.throws(() => judged('{"value": "Infinity"}', { value }), ArgumentError);
  }
  assert.equal(jsonOf({ a: undefined, b: 10n ** 20n, c: new Date(0), d: Object.create(null) }), '{"b":100000000000000000000,"c":"1970-01-01T00:00:00.000Z","d":{}}');
});
