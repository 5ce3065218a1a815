// Values that are JSON, and values that are not: the latter throw before anything is decided.
import assert from "node:assert/strict";
import { test } from "node:test";
import vm from "node:vm";
import { ArgumentError, Guard } from "../lib/index.mjs";

const loose = () => Guard.compile("guard loose\ntool take(value: string)\ntool whole(value: int)\ntool pay(value: decimal)").session("s");

const cyclicList = [];
cyclicList.push(cyclicList);
const cyclicObject = {};
cyclicObject.self = { again: cyclicObject };
const deep = JSON.parse("[".repeat(200) + "]".repeat(200));

const NOT_JSON = {
  NaN: NaN,
  infinity: -Infinity,
  undefined: undefined,
  "a BigInt": 5n,
  "a Date": new Date(0),
  "an invalid Date": new Date(NaN),
  "a Map": new Map([["value", 1]]),
  "a Set": new Set([1]),
  "a Uint8Array": new Uint8Array(2),
  "a Buffer": Buffer.from("text"),
  "a function": () => 1,
  "a symbol": Symbol("s"),
  "a promise": Promise.resolve("a"),
  "a boxed string": new String("a"),
  "a RegExp": /a/,
  "an Error": new Error("a"),
  "an object of a class": new (class Sneaky { value = 1; })(),
  "an object with a prototype": Object.create({ value: "hidden" }),
  "an object with toJSON": { toJSON: () => "something else" },
  "a sparse list": [, 1],
  "a generator": (function* () { yield 1; })(),
  "a cyclic list": cyclicList,
  "a cyclic object": cyclicObject,
  "a deep list": deep,
  "a lone surrogate": "\ud800",
  "a key with a lone surrogate": { "\udfff": 1 },
  "a Map of another realm": vm.runInNewContext("new Map()"),
};

for (const [name, value] of Object.entries(NOT_JSON)) {
  test(`${name} throws before anything is decided`, async () => {
    const session = loose();
    const ran = [];
    const before = session.head;
    for (const args of [{ value }, { value: [{ a: [value] }] }]) {
      assert.throws(() => session.propose("take", args), ArgumentError);
      await assert.rejects(session.promises.propose("take", args), ArgumentError);
      await assert.rejects(session.call("take", args, () => ran.push("call")), ArgumentError);
      await assert.rejects(session.tool("take", () => ran.push("tool"), { denied: "message" })(args), ArgumentError);
    }
    assert.deepEqual([ran, session.head, session.inFlight], [[], before, []]);
  });

  test(`${name} as a result settles as one that does not decode`, async () => {
    const session = loose();
    const result = await session.call("take", { value: "a" }, () => (name === "a promise" ? undefined : value)).catch((error) => error);
    if (name !== "a generator") assert.ok(result === value || Number.isNaN(value) || name === "a promise");
    assert.deepEqual(session.inFlight, []);
  });
}

test("the message names the place", () => {
  const args = { value: [1, { when: new Date(0) }] };
  assert.throws(() => loose().propose("take", args), /the value\["value"\]\[1\]\["when"\] is of class `Date`, which is not JSON/);
});

test("texts in other places may have no lone surrogates either", () => {
  const session = loose();
  const bad = "\ud800";
  for (const attempt of [
    () => session.propose(bad, {}), () => session.propose("take", {}, { call: bad }), () => session.propose("take", `{"value": "${bad}"}`),
    () => session.prompt(bad), () => session.settle(bad), () => session.approve("take", {}, { role: bad, by: "x" }), () => session.stop(bad),
    () => Guard.compile(bad), () => session.guard.session(bad), () => session.propose(5, {}), () => session.propose(undefined),
    () => session.propose("take", {}, { call: 7 }), () => session.settle(undefined), () => session.prompt({}),
  ]) assert.throws(attempt, ArgumentError);
});

for (const [tool, value, recorded] of [
  ["take", "é😀\u0000", "é😀\u0000"], ["take", vm.runInNewContext("({a: 'b'})").a, "b"], ["whole", 2 ** 53, 2 ** 53], ["whole", -0, 0],
  ["pay", 0.1, 0.1], ["pay", 5, 5], ["pay", 1e21, null], ["whole", true, null], ["whole", 1.5, null], ["take", null, null], ["take", ["a"], null],
]) {
  test(`${tool} gets ${JSON.stringify(value)} as it is`, () => {
    const verdict = loose().propose(tool, { value });
    assert.equal(verdict.allowed, recorded !== null, verdict.message);
    if (recorded !== null) assert.deepEqual(JSON.parse(verdict.record).payload.args, { value: recorded });
  });
}

test("an object of another realm and one without a prototype are objects", () => {
  assert.ok(loose().propose("take", vm.runInNewContext("({ value: 'a' })")).allowed);
  assert.ok(loose().propose("take", Object.assign(Object.create(null), { value: "a" })).allowed);
});

test("text is judged as the model wrote it", () => {
  const session = loose();
  assert.ok(session.propose("take", '{"value": "a"}').allowed);
  const twice = session.propose("take", '{"value": "a", "value": "b"}');
  assert.deepEqual([twice.decision, twice.reasons[0].code], ["deny", "invalid_arguments"]);
  for (const args of ['{"value": "a"', "[1]", [1], "", null, 5]) assert.equal(session.propose("take", args).decision, "deny");
});

test("text that JavaScript reads as something else must pass as both", async () => {
  const guard = Guard.compile("guard g\ntool pick(n: int) { deny when n == 9007199254740992 because \"even\" deny when n == 9007199254740995 because \"odd\" }");
  const session = guard.session("s");
  const ran = [];
  const run = ({ n }) => ran.push(n);
  // The text passes, what would run does not; and the other way round.
  await assert.rejects(session.call("pick", '{"n": 9007199254740993}', run), /even/);
  await assert.rejects(session.call("pick", '{"n": 9007199254740995}', run), /odd/);
  await assert.rejects(session.call("pick", '{"n": 1, "n": 2}', run), /`n`|twice|duplicate/);
  assert.deepEqual(ran, []);
  await session.call("pick", '{"n": 9007199254740997}', run);
  assert.deepEqual(ran, [9007199254740996]);
  assert.deepEqual(JSON.parse(session.records().at(-2)).payload.args, { n: 9007199254740996 });
});

test("arguments that change after the proposal do not change what runs", async () => {
  const session = loose();
  let reads = 0;
  const args = { get value() { return reads++ ? "changed" : "a"; } };
  assert.deepEqual(await session.call("take", args, (given) => given), { value: "a" });
  const late = { value: "a" };
  const running = session.call("take", late, (given) => given);
  late.value = "b";
  assert.deepEqual(await running, { value: "a" });
});

test("a getter that throws, or uses a session of its own, decides nothing", () => {
  const session = loose();
  const before = session.head;
  assert.throws(() => session.propose("take", { get value() { throw new RangeError("x"); } }), RangeError);
  assert.deepEqual(session.head, before);
  const args = { get value() { assert.throws(() => session.propose("take", { x: [NaN] }), /the value\["x"\]\[0\] is NaN/); return 5n; } };
  assert.throws(() => session.propose("take", args), /the value\["value"\] is a BigInt/);
});

test("a result that is not JSON is not settled by hand", () => {
  const session = loose();
  const { call } = session.propose("take", { value: "a" });
  assert.throws(() => session.settle(call, new Set([1])), ArgumentError);
  assert.deepEqual(session.inFlight, [call]);
  session.settle(call, [1, 2]);
});
