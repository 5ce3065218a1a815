"use strict";
// Scopes around calls: proposed on entry, settled on exit, in turn where calls exclude each other.

const { AsyncLocalStorage } = require("node:async_hooks");
const { answer, native } = require("./engine.js");
const { ApprovalNeeded, ArgumentError, Denied, GuardError, Served, WaitTimeout } = require("./errors.js");
const { argsText, jsonText } = require("./json.js");
const { Verdict } = require("./outcomes.js");
const { PendingApproval } = require("./pending.js");

/** How many later calls may pass a call that waits. After that they queue behind it. */
const MAX_PASSED = 16;

/** The first and the longest time between two looks at a session that other processes share, in milliseconds. */
const FIRST_POLL = 250;
const LONGEST_POLL = 4000;

/** The longest time of a timer of Node; a longer one would fire at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** The scopes in which the current task runs: pairs of a session and a tool. */
const inside = new AsyncLocalStorage();

/** One task at a time, in the order in which they came; urgent ones go first. */
class Queue {
  #tasks = [];
  #runs = false;

  get isFree() {
    return !this.#runs;
  }
  run(task, urgent = false) {
    return new Promise((resolve, reject) => {
      const entry = async () => {
        try {
          resolve(await task());
        } catch (error) {
          reject(error);
        }
      };
      if (urgent) this.#tasks.unshift(entry);
      else this.#tasks.push(entry);
      if (!this.#runs) this.#work();
    });
  }
  async #work() {
    this.#runs = true;
    while (this.#tasks.length) await this.#tasks.shift()();
    this.#runs = false;
  }
}

/** A call that waits for its turn, and the answer that ends its wait. */
class Waiter {
  passed = 0;
  done = false;
  verdict;
  error;

  constructor(scope, verdict, isNested) {
    this.scope = scope;
    this.verdict = verdict;
    // A call within a call never queues behind one that waits for the outer call.
    this.isNested = isNested;
    this.over = new Promise((resolve) => (this.end = resolve));
  }

  /** Proposes the call again. Returns true if the wait is over. */
  async tryAgain() {
    try {
      this.verdict = await this.scope.propose();
      if (this.verdict.decision === "wait") return false;
    } catch (error) {
      this.error = error; // Whatever fails ends the wait without an answer that allows.
    }
    this.done = true;
    this.end();
    return true;
  }

  get isServed() {
    return this.error === undefined && this.verdict?.isServed;
  }
  answer() {
    if (this.error !== undefined) throw this.error;
    return this.verdict;
  }
}

/** The calls of a session: those that wait, first come first served. */
class Calls {
  #gate = new Queue();
  #waiting = [];

  constructor(session, polls) {
    this.session = session;
    this.polls = polls;
  }

  /** Something ended: the calls that wait are proposed again, before any other call, in the order in which they came. */
  wake() {
    // A call that is being admitted holds the gate, so it stands among those that wait when the urgent task runs.
    if (this.#waiting.length || !this.#gate.isFree) this.#gate.run(() => this.#tryAll(), true);
  }
  /** Settles a call. Those that wait are proposed again before a later call is. */
  settling(settle) {
    if (this.#gate.isFree && !this.#waiting.length) return settle();
    return new Promise((resolve, reject) => {
      const task = async () => {
        await settle().then(resolve, reject);
        await this.#tryAll();
      };
      this.#gate.run(task, true);
    });
  }
  async #tryAll() {
    for (let again = true; again; ) {
      again = false;
      let blocked = false;
      for (const waiter of [...this.#waiting]) {
        if (blocked && !waiter.isNested) continue;
        if (await this.#try(waiter)) again ||= waiter.isServed;
        else blocked ||= waiter.passed >= MAX_PASSED;
      }
    }
  }
  /** Proposes a call again that waits. Returns true if its wait is over. */
  async #try(waiter) {
    const over = !waiter.done && (await waiter.tryAgain());
    if (!over) return false;
    if (waiter.verdict?.allowed) this.#passed(this.#waiting.indexOf(waiter));
    this.#remove(waiter);
    return true;
  }
  /** A call was let through: it has passed those that came before it. */
  #passed(place) {
    for (const waiter of this.#waiting.slice(0, place)) waiter.passed += 1;
  }
  #remove(waiter) {
    const place = this.#waiting.indexOf(waiter);
    if (place >= 0) this.#waiting.splice(place, 1);
  }

  /** Proposes a call. Returns its verdict, or the waiter that gets it later. */
  admit(scope) {
    const own = (inside.getStore() ?? []).filter((call) => call.session === this.session).map((call) => call.tool);
    return this.#gate.run(async () => {
      let verdict;
      if (own.length || !this.#waiting.some((waiter) => waiter.passed >= MAX_PASSED)) {
        verdict = await scope.propose();
        if (verdict.allowed) this.#passed(this.#waiting.length);
        if (verdict.decision !== "wait") return { verdict };
        const circle = verdict.reasons.some(({ decision, needs }) => decision === "wait" && needs.some((tool) => own.includes(tool)));
        if (circle) throw new WaitTimeout(verdict);
      }
      const waiter = new Waiter(scope, verdict, own.length > 0);
      this.#waiting.push(waiter);
      return { waiter };
    });
  }

  /** Waits until a call's turn has come, its time is over or its signal is aborted. */
  async turn(waiter, signal) {
    const { session } = this;
    const aborted = abortion(signal);
    let left = session.wait;
    let poll = this.polls ? FIRST_POLL : Infinity;
    try {
      while (left > 0) {
        const slice = Math.min(left, poll);
        const timer = timeLimit(slice);
        try {
          await Promise.race([waiter.over, timer.over, aborted.over]);
        } finally {
          timer.clear();
        }
        if (waiter.done) break;
        left -= slice;
        poll = Math.min(poll * 2, this.polls ? LONGEST_POLL : Infinity);
        await this.#gate.run(() => this.#tryAll());
        if (waiter.done) break;
      }
      await this.#gate.run(() => this.#remove(waiter));
      if (waiter.done) return waiter.answer();
      if (waiter.verdict) throw new WaitTimeout(waiter.verdict);
      throw new GuardError(`\`${waiter.scope.tool}\` waited ${session.wait} ms behind other calls, and did not run`);
    } catch (error) {
      await this.#gate.run(() => this.#abandon(waiter));
      throw error;
    } finally {
      aborted.clear();
    }
  }

  /** The wait ended without a run: an answer that allowed the call is settled as failed. */
  async #abandon(waiter) {
    this.#remove(waiter);
    if (waiter.done && waiter.error === undefined && waiter.verdict.allowed && !waiter.verdict.isServed) {
      await this.session.settleQuietly(waiter.verdict.call, "failure");
      await this.#tryAll();
    }
  }
}

function timeLimit(milliseconds, passed) {
  if (milliseconds === undefined || milliseconds > LONGEST_TIMER) return { over: new Promise(() => {}), clear() {} };
  let timer;
  const over = new Promise((resolve, reject) => (timer = setTimeout(() => (passed ? reject(passed()) : resolve()), milliseconds)));
  return { over, clear: () => clearTimeout(timer) };
}

function abortion(signal, aborted = (reason) => reason) {
  if (signal === undefined) return { over: new Promise(() => {}), clear() {} };
  let abort;
  const over = new Promise((_, reject) => {
    abort = () => reject(aborted(signal.reason));
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
  over.catch(() => undefined);
  return { over, clear: () => signal.removeEventListener("abort", abort) };
}

/** One call: `enter` proposes it and waits its turn, `succeed` or `fail` settles it. */
class CallScope {
  #args;
  #real;
  #written;
  #roles;
  #state = "new";

  /**
   * `isExact`: the tool runs with what the text of the arguments says. `written`: the arguments as the model wrote them, where
   * the tool gets others; both must pass. `roles`: those that have approved this call in one of its forms.
   */
  constructor(session, tool, args, { call, signal, isExact = false, written, roles = [] } = {}) {
    if (signal !== undefined && !(signal instanceof AbortSignal)) throw new ArgumentError("`signal` is an `AbortSignal`");
    this.session = session;
    this.tool = tool;
    this.call = call;
    this.signal = signal;
    // Taken now: whoever changes the object later changes neither what is judged nor what runs.
    this.#args = argsText(args);
    this.#written = written;
    this.#roles = roles;
    // The caller runs the tool with what the text says, and not with what JavaScript reads in it.
    if (isExact) this.#real = this.#args;
  }

  /** The arguments with which the tool runs: those that were judged, read anew. */
  get args() {
    return JSON.parse(this.#real ?? this.#args);
  }

  async propose() {
    await this.session.settleOverdue();
    // A scope hands on what its tool returns.
    if (this.session._changesResults.has(this.tool)) return Verdict.unshowable(this.tool, this.#args, this.call ?? "");
    const text = await this.#judged();
    const verdict = await this.session.promises.propose(this.tool, text, { call: this.call });
    this.call = verdict.call;
    return verdict;
  }

  /** The arguments as they were written; where JavaScript reads something else, as they run. All forms must pass. */
  async #judged() {
    this.#real ??= realText(this.#args);
    const forms = [...new Set([this.#real, this.#args, this.#written ?? this.#args])];
    return forms.length === 1 ? forms[0] : strictestForm(this.session, this.tool, forms, this.#roles);
  }

  /** Proposes the call. Returns what `entered` waits for; throws where the call may not run. */
  async begin() {
    if (this.#state !== "new") throw new ArgumentError("a scope is for one call: make another with `session.scope`");
    this.#state = "proposed";
    this.signal?.throwIfAborted();
    const { verdict, waiter } = await this.session.calls.admit(this);
    if (waiter === undefined) await this.#accept(verdict);
    return waiter;
  }

  /** Waits for the call's turn. */
  async entered(waiter) {
    if (waiter !== undefined) await this.#accept(await this.session.calls.turn(waiter, this.signal));
    return this;
  }

  async enter() {
    return this.entered(await this.begin());
  }

  async #accept(verdict) {
    this.verdict = verdict;
    if (verdict.isServed) throw new Served(verdict);
    if (verdict.decision === "ask") throw new ApprovalNeeded(verdict, PendingApproval.ofVerdict(this.session.id, verdict));
    if (!verdict.allowed) throw new Denied(verdict);
    this.#state = "running";
    if (this.signal?.aborted) {
      await this.fail();
      throw this.signal.reason;
    }
  }

  async #leave(result, outcome) {
    if (this.#state !== "running") throw new ArgumentError(`the call of \`${this.tool}\` does not run`);
    this.#state = "settled";
    this.settled = await this.session.settleRun(this.call, result, outcome);
    return this.settled;
  }
  /** Settles the call as a success. A result that is not JSON counts as one that does not decode. */
  succeed(result) {
    return this.#leave(result, "success");
  }
  /** Settles the call as a failure. */
  fail() {
    return this.#leave(undefined, "failure");
  }

  /** Enters, runs the tool, settles. Returns the tool's result, or that of the guard for a tool that it serves. */
  async around(run, timeout) {
    expectRunnable(run, timeout);
    try {
      await this.enter();
    } catch (error) {
      if (error instanceof Served) return error.verdict.served;
      throw error;
    }
    return this.run(run, timeout);
  }

  /** Runs the tool of an entered call and settles it, in whatever way it ends. */
  async run(run, timeout) {
    const ends = new Ends(this, timeout);
    let result;
    try {
      this.signal?.throwIfAborted();
      const calls = [...(inside.getStore() ?? []), { session: this.session, tool: this.tool }];
      const running = inside.run(calls, async () => run(this.args, ends.running));
      result = await ends.first(running);
      expectWhole(this.tool, result);
    } catch (error) {
      await this.#failed(error, ends.cancelled);
      throw error;
    } finally {
      ends.clear();
    }
    await this.succeed(result);
    return result;
  }

  async #failed(error, cancelled) {
    try {
      await this.fail();
    } catch (unsettled) {
      // A cancellation goes on as what it is; the session refuses everything from here.
      if (cancelled) return;
      unsettled.cause ??= error;
      throw unsettled;
    }
  }
}

/** Per session: the forms of calls that people were asked about. */
const askedForms = new WeakMap();

/**
 * The form of a call to propose, of those that must all pass. The first is the one that the tool gets. A form that needs
 * approvals counts as approved if all its roles are in `given`: they have approved another form of the call. Throws
 * `ArgumentError` where no form needs the approvals of all the others.
 */
async function strictestForm(session, tool, forms, given) {
  const judged = [];
  for (const form of forms) {
    const verdict = await previewed(session, tool, form);
    if (verdict === undefined || verdict.decision === "deny") return form;
    judged.push({ form, verdict, needs: PendingApproval.ofVerdict(session.id, verdict).roles });
  }
  if (!askedForms.has(session)) askedForms.set(session, new Set());
  const asked = askedForms.get(session);
  const keyOf = (form) => `${tool}\n${answer(native.canonical(form))}`;
  const isCovered = ({ needs }, by) => needs.length > 0 && needs.every((role) => by.includes(role));
  const asking = judged.filter((each) => each.verdict.decision === "ask" && !isCovered(each, given));
  if (asking.length) {
    const strictest = asking.find(({ needs }) => !needs.length || asking.every((other) => isCovered(other, needs)));
    if (!strictest) throw new ArgumentError(`\`${tool}\` needs approvals of different people as the model wrote it and as the tool gets it`);
    asked.add(keyOf(strictest.form));
    return strictest.form;
  }
  const waiting = judged.find(({ verdict }) => verdict.decision === "wait");
  if (waiting) return waiting.form;
  const allowed = judged.filter(({ verdict }) => verdict.decision === "allow");
  // The form that people were asked about uses up their approval.
  return (allowed.find(({ form }) => asked.has(keyOf(form))) ?? allowed[0] ?? judged[0]).form;
}

/** The verdict that a form would get; nothing if it is no JSON, which is denied when it is proposed. */
async function previewed(session, tool, form) {
  try {
    return await session.promises.preview(tool, form);
  } catch (error) {
    if (error instanceof ArgumentError) return undefined;
    throw error;
  }
}

/** What may end a running call before its tool does: its time and its signal. */
class Ends {
  #own;
  #limit;
  #aborted;

  constructor(scope, timeout) {
    const { signal, tool, call } = scope;
    const ends = this;
    /** What the tool is told. Its signal is made when somebody looks at it. */
    this.running = { call, get signal() { return ends.#controller.signal; } };
    if (timeout !== undefined) {
      this.#limit = timeLimit(timeout, () => this.#abort(new DOMException(`\`${tool}\` did not end within ${timeout} ms`, "TimeoutError")));
    }
    if (signal !== undefined) this.#aborted = abortion(signal, (reason) => this.#abort(reason));
  }
  get #controller() {
    return (this.#own ??= new AbortController());
  }
  #abort(reason) {
    this.#controller.abort(reason);
    return reason;
  }
  get cancelled() {
    return this.#own?.signal.aborted ?? false;
  }
  first(running) {
    if (this.#limit === undefined && this.#aborted === undefined) return running;
    return Promise.race([running, this.#limit?.over ?? running, this.#aborted?.over ?? running]);
  }
  clear() {
    this.#limit?.clear();
    this.#aborted?.clear();
  }
}

/** The text of what JavaScript reads in a text; the text itself where that is the same to the engine. */
function realText(text) {
  let real;
  try {
    real = jsonText(JSON.parse(text));
    if (answer(native.canonical(text)) === answer(native.canonical(real))) return text;
  } catch {
    return text; // The engine refuses it in its own words.
  }
  return real;
}

/** Refuses a result whose body runs after the call, where nobody settles it. */
function expectWhole(tool, result) {
  const kind = result !== null && typeof result === "object" ? result[Symbol.toStringTag] : undefined;
  if (kind === "AsyncGenerator" || kind === "Generator") {
    throw new ArgumentError(`\`${tool}\` returned a generator: its body runs after the call, where nobody settles it`);
  }
}

function expectRunnable(run, timeout) {
  if (typeof run !== "function") throw new ArgumentError("a call runs a function");
  if (timeout !== undefined && !(timeout > 0)) throw new ArgumentError("`timeout` is a number of milliseconds above 0");
}

/** The function behind the session's guard. */
function guardedTool(session, name, run, { denied = "throw", timeout } = {}) {
  if (denied !== "throw" && denied !== "message") throw new ArgumentError('`denied` is "throw" or "message"');
  expectRunnable(run, timeout);
  return async (args, { signal, call } = {}) => {
    const scope = session.scope(name, args, { signal, call });
    try {
      await scope.enter();
    } catch (error) {
      if (error instanceof Served) return error.verdict.served;
      if (denied === "message" && error instanceof Denied) return error.message;
      throw error;
    }
    return scope.run(run, timeout);
  };
}

module.exports = { CallScope, Calls, Queue, guardedTool };
