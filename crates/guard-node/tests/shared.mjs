// Guards of the tests, and a way to see what ran.
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Guard } from "../lib/index.mjs";

export const REFUNDS = `guard refunds
tool verify(code: string)
tool refund(order: string, amount: decimal in 0.01..=500) {
  requires verify
  approval boss when amount > 100
}
tool ping() { limit 2 per session }
`;

/** `write` and `read` touch one variable: while one is in flight the other waits. */
export const SHARED = `guard shared
state { total: int = 0 }
tool read() { deny when total < 0 because "there is nothing" }
tool write(n: int) { effect total = total + n }
tool other()
`;

export const refunds = (options) => Guard.compile(REFUNDS).session("s1", options);
export const shared = (options) => Guard.compile(SHARED).session("s1", options);
export const folder = () => mkdtempSync(join(tmpdir(), "guard-node-"));

/** The outcome of each settled call, by its id. */
export function outcomes(session) {
  const settled = session.records().map((line) => JSON.parse(line)).filter((record) => record.kind === "settle");
  return Object.fromEntries(settled.map((record) => [record.call, record.payload.success ? "success" : "failure"]));
}

/** No door of the session lets anything through. */
export async function refusesEverything(session, error) {
  const ran = [];
  const tool = session.tool("ping", () => ran.push("tool"));
  const quiet = session.tool("ping", () => ran.push("quiet"), { denied: "message" });
  assert.throws(() => session.propose("ping"), error);
  await assert.rejects(session.promises.propose("ping"), error);
  await assert.rejects(tool({}), error);
  await assert.rejects(quiet({}), error);
  await assert.rejects(session.call("ping", {}, () => ran.push("scope")), error);
  assert.deepEqual(ran, []);
}

/** A promise with its two ends. */
export function deferred() {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}

/** Lets everything run that can run now. */
export const settledTasks = () => new Promise((resolve) => setImmediate(resolve));
