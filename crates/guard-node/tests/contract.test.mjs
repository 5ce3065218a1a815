// Contracts: texts judged whole, beside the event loop, and as they arrive.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ArgumentError, ContractError, Guard } from "../lib/index.mjs";

const guard = Guard.compile("guard acts\nrecord Act { what: string }\ncontract R {\n  items acts: Act\n}");
const acts = guard.contract("R");
const TEXT = '{"acts": [{"what": "run 😀"}, {"what": 5}, {"what": "eat"}]}';

test("a text is judged", async () => {
  const report = acts.check(TEXT);
  assert.deepEqual([report.state, report.valid, report.kept, report.quarantinedCount], ["partial", false, 2, 1]);
  assert.deepEqual(report.items, { acts: [{ what: "run 😀" }, { what: "eat" }] });
  assert.match(report.lacks, /what/);
  for (const same of [acts.check(Buffer.from(TEXT)), await acts.checkLater(TEXT), guard.session("s").check("R", TEXT)]) {
    assert.deepEqual(same.toJSON(), report.toJSON());
  }
});

test("a feed gives the same report wherever the text is cut, halves of characters included", () => {
  const whole = acts.check(TEXT).toJSON();
  for (let at = 0; at <= TEXT.length; at += 1) {
    const feed = acts.feed();
    const items = [...feed.push(TEXT.slice(0, at)), ...feed.push(TEXT.slice(at))];
    assert.deepEqual([feed.finish().toJSON(), items], [whole, [{ what: "run 😀" }, { what: "eat" }]]);
    assert.throws(() => feed.push("x"), ContractError);
    assert.throws(() => feed.finish(), ContractError);
  }
});

test("bytes that are changed later are judged as they were", async () => {
  const bytes = Buffer.from(TEXT);
  const later = acts.checkLater(bytes);
  bytes.fill(0);
  assert.equal((await later).kept, 2);
});

test("what is no text is refused", async () => {
  for (const text of [undefined, null, 5, {}, ["a"], new ArrayBuffer(2), "\ud800"]) {
    assert.throws(() => acts.check(text), ArgumentError);
    await assert.rejects(acts.checkLater(text), ArgumentError);
    if (text !== "\ud800") assert.throws(() => acts.feed().push(text), ArgumentError);
  }
  const half = acts.feed();
  half.push("\ud83d");
  assert.throws(() => half.finish(), ArgumentError);
  assert.throws(() => acts.check("{}", { known: [1] }), ArgumentError);
  assert.throws(() => guard.contract("S"), { name: "ContractError", code: "no_such_contract" });
});

test("schema and prompt", () => {
  assert.deepEqual(Object.keys(acts.schema().properties), ["acts"]);
  assert.match(acts.prompt(), /acts/);
});
