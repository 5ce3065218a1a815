"use strict";
// Outcomes of events. Details are read from the engine's text when somebody asks for them.

const DECISIONS = { a: "allow", d: "deny", q: "ask", w: "wait" };
const NONE = { message: "", reasons: [], shadowed: [], needs: [], insteadText: null, servedText: null, feedback: [], rendered: "", notes: [], request: null };

/** The decision on a proposed call. An object is always true in a condition: ask for `allowed`. */
class Verdict {
  #answer;
  #details;
  #record;

  constructor(answer, tool, argsText) {
    const line = answer.indexOf("\n");
    this.#answer = answer;
    this.#record = line + 1;
    /** `allow`, `deny`, `ask` (somebody must approve) or `wait` (for a call in flight). */
    this.decision = DECISIONS[answer[0]];
    this.allowed = this.decision === "allow";
    this.tool = tool;
    this.argsText = argsText;
    this.call = answer.slice(answer.indexOf("\n", line + 1) + 1);
    Object.freeze(this);
  }
  /** The denial of a call whose result the guard may change, for who hands results on as they are. */
  static unshowable(tool, argsText, call) {
    const message = `the guard changes what \`${tool}\` returns before it is read, which this host cannot do: the call does not run`;
    const reason = { code: "transform", decision: "deny", rule: tool, message, help: "", span: null, needs: [], values: [] };
    return new Verdict(`d${JSON.stringify({ ...NONE, message, reasons: [reason] })}\n\n${call}`, tool, argsText);
  }
  get #more() {
    if (this.#details === undefined) {
      const text = this.#answer.slice(1, this.#record - 1);
      this.#details = text ? JSON.parse(text) : NONE;
    }
    return this.#details;
  }
  get message() {
    return this.#more.message;
  }
  get reasons() {
    return this.#more.reasons;
  }
  get shadowed() {
    return this.#more.shadowed;
  }
  get needs() {
    return this.#more.needs;
  }
  get insteadText() {
    return this.#more.insteadText;
  }
  get isServed() {
    return this.#more.servedText !== null;
  }
  get servedText() {
    return this.#more.servedText;
  }
  get served() {
    return this.isServed ? JSON.parse(this.servedText) : undefined;
  }
  get feedback() {
    return this.#more.feedback;
  }
  get rendered() {
    return this.#more.rendered;
  }
  get notes() {
    return this.#more.notes;
  }
  get request() {
    return this.#more.request;
  }
  get record() {
    return this.#answer.slice(this.#record, this.#answer.indexOf("\n", this.#record));
  }
  toJSON() {
    const { decision, call, tool, message, reasons, shadowed } = this;
    return { decision, call, tool, message, reasons, shadowed };
  }
  toString() {
    return this.message ? `${this.decision} ${this.tool}: ${this.message}` : `${this.decision} ${this.tool}`;
  }
}

/** The outcome of a settled call. */
class Settled {
  constructor(answer) {
    const line = answer.indexOf("\n");
    const details = line > 0 ? JSON.parse(answer.slice(0, line)) : { feedback: [], rendered: "", halted: false, shownText: null, notes: [] };
    Object.assign(this, details, { record: answer.slice(line + 1) });
    Object.freeze(this);
  }
}

/** The answer to an agent that would stop. */
class Stopped {
  constructor(answer) {
    Object.assign(this, JSON.parse(answer));
    Object.freeze(this);
  }
}

/** The report on a text. */
class Report {
  #text;
  #report;

  constructor(answer) {
    const line = answer.indexOf("\n");
    this.#text = answer.slice(line + 1);
    Object.assign(this, JSON.parse(answer.slice(0, line)));
    this.valid = this.state === "valid";
    Object.freeze(this);
  }
  get envelope() {
    return this.toJSON().envelope;
  }
  get items() {
    const lists = Object.entries(this.toJSON().items);
    return Object.fromEntries(lists.map(([list, items]) => [list, items.map((item) => item.value)]));
  }
  get values() {
    const { root, envelope } = this.toJSON();
    const values = { ...envelope, ...this.items };
    return root === undefined ? values : (Object.values(values)[0] ?? null);
  }
  /** The whole report as the engine writes it. */
  toJSON() {
    return (this.#report ??= JSON.parse(this.#text));
  }
}

module.exports = { Report, Settled, Stopped, Verdict };
