// A million calls with flat memory: `node --expose-gc crates/guard-node/benches/soak.mjs [CALLS]`. Prints the resident
// memory as it goes, and fails where the second half needs more than the first.
import { Guard } from "../lib/index.mjs";

const CALLS = Number(process.argv[2] ?? 1_000_000);
const guard = Guard.compile("guard soak\ntool refund(order: string, amount: decimal in 0.01..=500)\ntool other(order: string) { requires refund }");
const args = { order: "A1", amount: 20 };
const refused = [{ order: "A1", amount: NaN }, { order: "\ud800", amount: 1 }, { order: new Date(0) }];
const silent = () => undefined;

async function session(calls) {
  const session = guard.session("s");
  for (let number = 0; number < calls; number += 10) {
    for (let each = 0; each < 4; each += 1) session.settle(session.propose("refund", args).call, { done: each });
    session.settle(session.propose("refund", args).call, undefined, { outcome: "failure" });
    session.propose("refund", { order: "A1", amount: 501 }).message;
    await session.call("refund", args, () => ({ done: true }));
    await session.call("refund", args, () => { throw new Error("failed"); }).catch(silent);
    try { session.propose("refund", refused[number % 3]); } catch { /* refused */ }
    await session.call("other", { order: "A1" }, silent, { signal: AbortSignal.abort() }).catch(silent);
  }
  session.snapshot();
  if (calls % 20) session.close();
}

const samples = [];
for (let done = 0, each = 1000; done < CALLS; done += each) {
  await session(each);
  if (done % (CALLS / 20) < each) {
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc?.();
    samples.push(process.memoryUsage().rss / 1e6);
    console.log(`${String(done).padStart(9)} calls  ${samples.at(-1).toFixed(1)} MB`);
  }
}
const [first, second] = [samples.slice(2, samples.length / 2), samples.slice(samples.length / 2)].map((half) => Math.max(...half));
console.log(`most in the first half ${first.toFixed(1)} MB, in the second ${second.toFixed(1)} MB`);
if (second > first * 1.1) throw new Error("memory grows");
