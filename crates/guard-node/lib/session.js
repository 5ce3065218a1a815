"use strict";
// Sessions: events in the order in which they are asked, here or beside the event loop, and the calls that wait.

const { CallScope, Calls, Queue, guardedTool } = require("./calls.js");
const { answer, made, native } = require("./engine.js");
const { ArgumentError } = require("./errors.js");
const { argsText, jsonText, millis, plainText } = require("./json.js");
const { Report, Settled, Stopped, Verdict } = require("./outcomes.js");
const { PendingApproval } = require("./pending.js");
const { Store, engineOf } = require("./store.js");
const { inspect } = require("node:util");

/** How long a call waits for another call in flight, in milliseconds. */
const WAIT = 60_000;

const nothing = () => undefined;
const optional = (time) => (time === undefined ? undefined : millis(time));
const isPromise = (value) => typeof value?.then === "function";

function ending(outcome, result) {
  if (outcome === "success") return { success: result === undefined ? null : jsonText(result) };
  if (outcome === "failure") return "failure";
  throw new ArgumentError('`outcome` is "success" or "failure"');
}

// Each event: from what the caller gives to the engine's question, and how its answer is read.
const EVENTS = {
  propose(tool, args, { call } = {}) {
    const text = argsText(args);
    return [{ ask: "propose", tool: plainText(tool, "a tool"), args: text, call }, (found) => new Verdict(found, tool, text)];
  },
  preview(tool, args) {
    const text = argsText(args);
    return [{ ask: "preview", tool: plainText(tool, "a tool"), args: text }, (found) => new Verdict(found, tool, text)];
  },
  settle(call, result, { outcome = "success" } = {}) {
    return [{ ask: "settle", call: plainText(call, "a call's id"), ending: ending(outcome, result) }, (found) => new Settled(found)];
  },
  settleUnreadable(call, text, error) {
    return [{ ask: "settle", call, ending: { unreadable: [text, error] } }, (found) => new Settled(found)];
  },
  approve(tool, args, { role, by, expires }) {
    return [{ ask: "approve", tool, args: argsText(args), role, by, expires: optional(expires) }, nothing];
  },
  revoke(tool, args, { role, by }) {
    return [{ ask: "revoke", tool, args: argsText(args), role, by }, nothing];
  },
  usage(unit, amount) {
    return [{ ask: "usage", unit, amount: String(amount) }, JSON.parse];
  },
  resume({ role, by }) {
    return [{ ask: "resume", role, by }, nothing];
  },
  prompt(text) {
    return [{ ask: "prompt", text: plainText(text, "a prompt") }, JSON.parse];
  },
  stop(reason) {
    return [{ ask: "stop", reason }, (found) => new Stopped(found)];
  },
  advise() {
    return [{ ask: "advise" }, (found) => {
      const { advice, prompt } = JSON.parse(found);
      return { ...advice, prompt };
    }];
  },
  verifyItem(item) {
    return [{ ask: "verify", item }, JSON.parse];
  },
  moveItem(item, transition, { by, reason }) {
    return [{ ask: "move", item, transition, by, reason }, JSON.parse];
  },
  item(item) {
    return [{ ask: "item", item }, JSON.parse];
  },
  facts(fact, { start = 1, limit = 100 } = {}) {
    return [{ ask: "facts", fact, start, limit }, JSON.parse];
  },
  check(contract, text, { finishReason, known } = {}) {
    const lists = known === undefined ? undefined : jsonText(known);
    return [{ ask: "check", contract, text: plainText(text, "the text"), finishReason, known: lists }, (found) => new Report(found)];
  },
};

class Session {
  #engine;
  #clock;
  #probes;
  /** Events may wait for files, processes or a disk: promises of them are kept beside the event loop. */
  #waits;
  #order = new Queue();
  #blocks = [];
  #overdue = [];
  #changesResults;

  constructor(guard, engine, id, options) {
    const { workspace, store, clock, probes, data, actor, snapshot, trace, approvals = false, wait = WAIT, ...unknown } = options;
    const [strange] = Object.keys(unknown);
    if (strange !== undefined) throw new ArgumentError(`a session has no option \`${strange}\``);
    if (!(wait >= 0)) throw new ArgumentError("`wait` is a number of milliseconds, 0 or more");
    this.guard = guard;
    this.id = id;
    this.wait = wait;
    this.#clock = clock;
    this.#probes = probes;
    this.#waits = workspace !== undefined || store !== undefined;
    // Other processes may settle calls of a stored session without telling this one.
    Object.defineProperty(this, "calls", { value: new Calls(this, store !== undefined) });
    const now = clock === undefined ? undefined : millis(clock());
    const given = { workspace, data: data === undefined ? undefined : jsonText(data), actor, now, trace, approvals };
    const kept = store === undefined ? undefined : engineOf(store instanceof Store ? store : new Store(store));
    const bytes = snapshot === undefined ? undefined : Buffer.from(snapshot);
    this.#engine = made(() => native.NodeSession.open(engine, id, JSON.stringify(given), kept, bytes));
    /** The same events as promises: in their order, and beside the event loop where they may wait for a disk. */
    this.promises = Object.fromEntries(Object.keys(EVENTS).map((name) => [name, (...given) => this.#later(name, given)]));
    this.promises.propose = async (...given) => (this.#isQuick ? this.propose(...given) : this.#later("propose", given));
    this.promises.settle = (...given) => this.calls.settling(() => this.#settledLater(...given));
    this.promises.stop = async (reason) => {
      await this.settleOverdue();
      return this.#later("stop", [reason]);
    };
    delete this.promises.settleUnreadable;
  }

  #moment() {
    const now = this.#clock?.();
    const answers = this.#probes?.();
    if (isPromise(now) || isPromise(answers)) throw new ArgumentError("`clock` and `probes` are asynchronous: use `session.call` or `session.promises`");
    return [this.#clock && millis(now), this.#probes && jsonText(answers)];
  }
  async #momentLater() {
    const now = await this.#clock?.();
    const answers = await this.#probes?.();
    return [this.#clock && millis(now), this.#probes && jsonText(answers)];
  }
  #ask(name, given) {
    const [request, read] = EVENTS[name](...given);
    return read(answer(this.#engine.ask(JSON.stringify(request), ...this.#moment())));
  }
  /** True if an event neither waits nor overtakes another one. */
  get #isQuick() {
    return !this.#waits && !this.#clock && !this.#probes && this.#order.isFree;
  }
  async #later(name, given) {
    const [request, read] = EVENTS[name](...given);
    const text = JSON.stringify(request);
    if (this.#isQuick) return read(answer(this.#engine.ask(text)));
    return this.#order.run(async () => {
      const moment = await this.#momentLater();
      return read(answer(this.#waits ? await this.#engine.askLater(text, ...moment) : this.#engine.ask(text, ...moment)));
    });
  }
  #now(what) {
    return JSON.parse(answer(this.#engine.ask(JSON.stringify({ ask: what }))));
  }

  // The two events of every call have a short way.

  propose(tool, args, { call } = {}) {
    const text = argsText(args);
    plainText(tool, "a tool");
    if (call !== undefined) plainText(call, "a call's id");
    const [now, answers] = this.#clock || this.#probes ? this.#moment() : [];
    return new Verdict(answer(this.#engine.propose(tool, text, call, now, answers)), tool, text);
  }

  /** Says how an allowed call ended. Throws `ArgumentError` where the result is not JSON; nothing is settled then. */
  settle(call, result, options) {
    if (options !== undefined) {
      const settled = this.#ask("settle", [call, result, options]);
      this.calls.wake();
      return settled;
    }
    const settled = this.#succeeded(call, result);
    this.calls.wake();
    return settled;
  }
  #succeeded(call, result) {
    const text = result === undefined ? undefined : jsonText(result);
    const [now, answers] = this.#clock || this.#probes ? this.#moment() : [];
    return new Settled(answer(this.#engine.settle(plainText(call, "a call's id"), text, now, answers)));
  }
  async #settledLater(call, result, options) {
    const isSuccess = (options?.outcome ?? "success") === "success";
    return this.#isQuick && isSuccess ? this.#succeeded(call, result) : this.#later("settle", [call, result, options]);
  }

  /** Settles a call, and leaves it to the caller to wake those that wait. */
  settleQuietly(call, outcome) {
    return this.#later("settle", [call, undefined, { outcome }]);
  }

  /** Settles a call that has run, whatever its result is, and keeps the feedback. */
  async settleRun(call, result, outcome) {
    let settled;
    try {
      settled = await this.promises.settle(call, result, { outcome });
    } catch (error) {
      try {
        const ending = unreadable(call, result, error);
        settled = await this.calls.settling(() => this.#later(...ending));
      } catch (unsettled) {
        this.#overdue.push({ call, result, outcome });
        throw unsettled;
      }
    }
    this.#blocks.push(...settled.feedback);
    return settled;
  }

  /** Settles the calls that have run and whose settlement failed. Throws where it fails again. */
  async settleOverdue() {
    for (; this.#overdue.length; this.#overdue.shift()) {
      const { call, result, outcome } = this.#overdue[0];
      if (!this.inFlight.includes(call)) continue;
      try {
        await this.#later("settle", [call, result, { outcome }]);
      } catch (error) {
        await this.#later(...unreadable(call, result, error));
      }
    }
  }

  /** Asks whether the agent may stop. Throws where a call has run that cannot be settled. */
  stop(reason) {
    for (; this.#overdue.length; this.#overdue.shift()) {
      const { call, result, outcome } = this.#overdue[0];
      if (!this.inFlight.includes(call)) continue;
      try {
        this.settle(call, result, { outcome });
      } catch (error) {
        this.#ask(...unreadable(call, result, error));
      }
    }
    return this.#ask("stop", [reason]);
  }

  /** The feedback of settled scopes and tools that nobody has read yet: texts, in order. */
  feedback() {
    return this.#blocks.splice(0);
  }

  // Calls

  scope(tool, args, options = {}) {
    return new CallScope(this, tool, args, options);
  }
  async call(tool, args, run, options = {}) {
    return new CallScope(this, tool, args, options).around(run, options.timeout);
  }
  tool(name, run, options = {}) {
    return guardedTool(this, name, run, options);
  }

  // Approvals

  pending(verdict) {
    return PendingApproval.ofVerdict(this.id, verdict);
  }
  #expectOwn(pending) {
    if (pending.session !== this.id) throw new ArgumentError(`the call belongs to the session \`${pending.session}\``);
  }
  proposePending(pending) {
    this.#expectOwn(pending);
    return this.propose(pending.tool, pending.argsText, { call: pending.call });
  }
  approvePending(pending, { by, role, expires }) {
    this.#expectOwn(pending);
    for (const each of role === undefined ? pending.roles : [role]) {
      this.approve(pending.tool, pending.argsText, { role: each, by, expires });
    }
  }

  // The session

  get isResumed() {
    return this.#now("status").isResumed;
  }
  get inFlight() {
    return this.#now("status").inFlight;
  }
  /** The tools of which the agent may have to read something else than they return. */
  get _changesResults() {
    return (this.#changesResults ??= new Set(this.#now("status").changesResults));
  }
  get halted() {
    return this.#now("status").halted;
  }
  get state() {
    return this.#now("status").state;
  }
  get head() {
    return this.#now("status").head;
  }
  records() {
    return this.#now("records");
  }
  snapshot() {
    return made(() => this.#engine.snapshot());
  }
  get isClosed() {
    return this.#engine.isClosed;
  }
  /** Gives the session up. Every later event throws `Closed`, and so do the calls that wait. */
  close() {
    this.#engine.close();
    this.calls.wake();
  }
  [Symbol.dispose ?? Symbol.for("Symbol.dispose")]() {
    this.close();
  }
  /** Panics inside an event, as a bug of the engine would. For tests: it can only make the session refuse. */
  _panic() {
    this.#now("panic");
  }

  static {
    // The other events are asked as they stand in the table.
    for (const name of Object.keys(EVENTS)) {
      if (name in this.prototype || name === "settleUnreadable") continue;
      this.prototype[name] = function (...given) {
        return this.#ask(name, given);
      };
    }
  }
}

/** The settlement of a call whose result is not JSON. Throws `error` if it is: then the engine failed, or the host's clock or probes. */
function unreadable(call, result, error) {
  try {
    if (result !== undefined) jsonText(result);
  } catch (why) {
    return ["settleUnreadable", [call, shown(result), String(why?.message ?? why)]];
  }
  throw error;
}

/** A result that is not JSON, in words that are not JSON either. */
function shown(result) {
  let text;
  try {
    text = inspect(result, { depth: 4, maxStringLength: 1000, maxArrayLength: 100 });
  } catch {
    text = typeof result;
  }
  return `not JSON: ${text.slice(0, 4000).toWellFormed()}`;
}

module.exports = { Session };
