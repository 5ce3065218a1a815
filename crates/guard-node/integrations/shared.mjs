// What all adapters share: the order of calls, approvals, the arguments that are judged, the words of refusals.
import { randomUUID } from "node:crypto";
import json from "../lib/json.js";
import { ApprovalNeeded, ArgumentError, Denied, GuardError, Served, Session, SessionError } from "../lib/index.mjs";

export const joined = (...texts) => texts.filter((text) => text).join("\n\n");

/** The session of a run, from a session or a function from the run's context to one. */
export function sessionOf(source, context) {
  const session = source instanceof Session ? source : source(context);
  if (!(session instanceof Session)) throw new GuardError("the guard has no session for this run");
  return session;
}

// Turns and people

/** Per session: what ends when the last call so far has been proposed. */
const turns = new WeakMap();

/** Ends when every call of a session that came so far has been proposed. */
export const lastTurn = (session) => turns.get(session) ?? Promise.resolve();

/** Calls of one turn are proposed in their order, and people are asked about one after another. */
export function inTurn(session, propose) {
  const proposing = lastTurn(session).then(propose);
  turns.set(session, proposing.catch(() => undefined));
  return proposing;
}

/**
 * Proposes a call, asks people where the guard asks for them, and waits for its turn. `args` makes the forms of the
 * arguments when the call is proposed: `real`, and `written` where it is another one. Returns the entered scope; throws as entering it does.
 */
export async function admitted(session, tool, args, options, approve) {
  let given;
  const again = async (error) => {
    await expectApproved(session, error, approve);
    return session.scope(tool, given.real, { ...options, written: given.written, roles: error.pending.roles });
  };
  const { scope, waiting } = await inTurn(session, async () => {
    given = await args();
    let scope = session.scope(tool, given.real, { ...options, written: given.written });
    try {
      return { scope, waiting: await scope.begin() };
    } catch (error) {
      scope = await again(error);
    }
    return { scope, waiting: await scope.begin() };
  });
  try {
    return await scope.entered(waiting);
  } catch (error) {
    return (await again(error)).enter(); // What it waited for may have brought the need of an approval.
  }
}

/** Gets the approvals that a call needs, role after role, and records them. Throws the error where they are not to be had. */
async function expectApproved(session, error, approve) {
  if (!(error instanceof ApprovalNeeded && approve) || !error.pending.roles.length) throw error;
  const { tool, argsText, roles } = error.pending;
  for (const role of roles) {
    const answer = await approve(error.pending, role);
    if (!answer?.by) throw error;
    await session.promises.approve(tool, argsText, { role, by: answer.by, expires: answer.expires });
  }
}

// Refusals

/** What the model is told about a call that did not run; nothing if the error is none of the guard's answers. */
export function refusal(error, call) {
  if (error instanceof Denied) return error.message;
  if (error instanceof Served) return joined(error.verdict.servedText, error.verdict.rendered);
  if (error instanceof SessionError && error.code === "call_in_flight") return `two calls have the id \`${call}\`, and this one did not run`;
  return undefined;
}

/** Puts a call to the guard that the framework answered itself: a tool that the agent does not have, bad arguments. */
export async function refused(session, { name, callId, arguments: written }) {
  const verdict = await session.promises.propose(name, written, { call: callId });
  if (verdict.allowed && !verdict.isServed) await session.promises.settle(verdict.call, undefined, { outcome: "failure" });
  return joined(verdict.message, verdict.rendered);
}

// Arguments

/** The arguments as the tool gets them, and as the model wrote them where validation changes them. Both must pass. */
export const judged = (written, input) => (isSame(written, input) ? { real: written } : { real: jsonOf(input), written });

/** What a text says where a number cannot hold it, and the framework has changed nothing else. */
export function exactInput(written, input) {
  if (!isSame(written, input)) return undefined;
  const exact = json.parseExact(written);
  const bigint = (_, value) => (typeof value === "bigint" ? Number(value) : value);
  const isNeeded = JSON.stringify(exact, (_, value) => (typeof value === "bigint" ? `${value}n` : value)) !== JSON.stringify(exact, bigint);
  return isNeeded ? exact : undefined;
}

/** A text as a value that is written as the text says, as far as the runtime can; nothing if it is no object. */
export function asWritten(written) {
  const raw = (value) => (JSON.rawJSON ? JSON.rawJSON(String(value)) : Number(value));
  const exact = (value) => {
    if (typeof value === "bigint") return raw(value);
    if (Array.isArray(value)) return value.map(exact);
    return value && typeof value === "object" ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, exact(each)])) : value;
  };
  try {
    const value = json.parseExact(written);
    return value && typeof value === "object" && !Array.isArray(value) ? exact(value) : undefined;
  } catch {
    return undefined;
  }
}

/** Marks BigInts while a value is written. Nobody outside of the process knows it, so that no text can pass for one. */
const MARK = randomUUID();
const MARKED = new RegExp(`"${MARK}(-?\\d+)"`, "g");

/**
 * The JSON text of a value, in which BigInts are integers and a value with `toJSON` is what that says. Throws `ArgumentError`
 * where `JSON.stringify` would write something else than the tool gets.
 */
export function jsonOf(value) {
  const text = JSON.stringify(value, function (key, each) {
    if (typeof each === "bigint") return `${MARK}${each}`;
    if (isLost(this, key, each)) throw new ArgumentError(`the value of \`${key}\` is not JSON, so that the guard cannot judge it`);
    return each;
  });
  return text?.replace(MARKED, "$1") ?? "null";
}

/** Returns true if JSON drops or replaces a member. One that is undefined is one that is not there. */
function isLost(holder, key, value) {
  switch (typeof value) {
    case "number":
      return !Number.isFinite(value);
    case "object":
      // An invalid date writes itself as null.
      return value === null ? holder[key] !== null : !Array.isArray(value) && !json.isPlain(value);
    case "undefined":
      return Array.isArray(holder) || holder[key] !== undefined;
    default:
      return typeof value === "function" || typeof value === "symbol";
  }
}

/** Returns true if the text of the model says, as JavaScript reads it, what the tool gets. */
function isSame(written, input) {
  const real = sorted(JSON.parse(jsonOf(input)));
  try {
    return sorted(JSON.parse(written)) === real;
  } catch {
    return false;
  }
}

const ordered = (_, value) => (value && typeof value === "object" && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value);
const sorted = (value) => JSON.stringify(value, ordered);

/** The names of tools that somebody was warned of. */
const warned = new Set();

/** Warns once of tools that no guard sees. */
export function warnUnguarded(names, problem) {
  const fresh = names.filter((name) => !warned.has(name));
  if (!fresh.length) return;
  fresh.forEach((name) => warned.add(name));
  process.emitWarning(`${problem}: ${fresh.join(", ")}`, { code: "UNGUARDED_TOOL" });
}
