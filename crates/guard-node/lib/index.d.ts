/** Guard for Node: decide every tool call of an agent before it runs. */

/** JSON as JavaScript has it. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
/** The arguments of a call: the text that the model wrote, or an object. What is not JSON throws `ArgumentError`. */
export type Args = string | object;
/** A time: milliseconds since 1970, a `Date`, or RFC 3339 text. */
export type Time = number | Date | string;
type Awaitable<T> = T | PromiseLike<T>;

/** The version of the package. */
export const version: string;

/** The base of all errors of Guard. After one the call must not run. */
export class GuardError extends Error {
  /** A stable word for the kind of error. */
  readonly code: string;
}
/** The guard has errors, which the message lists as `guardc check` does, or cannot be read. */
export class SourceError extends GuardError {}
/** A value is not JSON, or not what the method takes. */
export class ArgumentError extends GuardError {}
/** The session did not take the event; `code` is a stable word, `journal_locked` for example. */
export class SessionError extends GuardError {
  /** The `seq` of the record from which on the trace cannot be taken up, where there is one. */
  readonly seq?: number;
}
/** The session is closed. */
export class Closed extends SessionError {}
/** The engine failed: the session takes no further events. */
export class Broken extends SessionError {}
/** The contract is unknown, or cannot be used. */
export class ContractError extends GuardError {}
/** The guard does not allow a call. The message is for the agent. */
export class Denied extends GuardError {
  readonly verdict: Verdict;
}
/** Somebody must approve exactly this call first. */
export class ApprovalNeeded extends Denied {
  /** The call as a value that survives the process. */
  readonly pending: PendingApproval;
}
/** A call waited too long for another call in flight. It did not run. */
export class WaitTimeout extends Denied {}
/** The guard serves the tool itself, so there is nothing to run: `verdict.served` is the result. */
export class Served extends GuardError {
  readonly verdict: Verdict;
}
/** The agent stopped although the guard says that something is missing. */
export class Incomplete extends GuardError {
  readonly stopped: Stopped;
}

/** A tool that a guard declares. */
export interface Tool {
  readonly name: string;
  readonly guardName: string;
  readonly title: string | null;
  readonly description: string;
  readonly risk: string;
  readonly irreversible: boolean;
  readonly served: boolean;
}

/** A guard that is ready to decide. Sessions of a thread share it; to another thread send `planBytes()`. */
export class Guard {
  private constructor();
  /** Loads a guard or a compiled plan from a file, whichever it is. Throws `SourceError`. */
  static load(path: string | URL): Guard;
  /** Compiles the text of a guard. Files that it uses are found relative to `path`, which need not exist. Throws `SourceError`. */
  static compile(text: string, options?: { path?: string | URL }): Guard;
  /** Loads the bytes that `guardc compile` or `planBytes` wrote. Throws `SourceError`. */
  static fromPlan(plan: Uint8Array): Guard;
  readonly name: string;
  /** The content hash of the plan, as `sha256:…`. */
  readonly planHash: string;
  readonly tools: readonly Tool[];
  /** The names of the contracts. */
  readonly contracts: readonly string[];
  /** The names of the probes that the host answers. */
  readonly probes: readonly string[];
  /** The compiled plan, as `guardc compile` writes it. */
  planBytes(): Buffer;
  /** Instructions for an agent under this guard: its tools and their rules. */
  guide(): string;
  /** The contract with this name. Throws `ContractError`. */
  contract(name: string): Contract;
  /** Begins a session, or resumes the one with this id in its store. Throws `SessionError`. */
  session(id?: string, options?: SessionOptions): Session;
}

export interface SessionOptions {
  /** The folder in which the agent works. Without one nobody answers questions about files. */
  workspace?: string;
  /** Where the session is kept, a path or a `Store`. A session that is there already goes on. */
  store?: string | Store;
  /** A function that returns the time. With an asynchronous one the session has asynchronous methods only. */
  clock?: () => Awaitable<Time>;
  /** A function that returns the host's answers to its probes, an object. It may be asynchronous as well. */
  probes?: () => Awaitable<object>;
  /** The data from which the guard learns at the start. */
  data?: object;
  /** On whose behalf the agent acts. */
  actor?: string;
  /** Bytes of `Session.snapshot`, to resume from. */
  snapshot?: Uint8Array;
  /** Lines of `Session.records`, to resume from. */
  trace?: readonly string[];
  /** Keep requests for approval beside the store, where `guardc approvals` and `Store.grant` answer. */
  approvals?: boolean;
  /** How many milliseconds a call waits for another call in flight; 60,000 where it is left out. */
  wait?: number;
}

/** One reason of a verdict. */
export interface Reason {
  /** A stable word for the kind of reason: `requires`, `limit`, `denied` and so on. */
  readonly code: string;
  /** The decision that this reason alone would give. */
  readonly decision: "deny" | "ask" | "wait";
  /** The owner of the rule: a tool, policy, invariant, budget or variable. */
  readonly rule: string;
  /** The problem, for the agent. */
  readonly message: string;
  /** The step that would make the call allowed; may be empty. */
  readonly help: string;
  /** `file:line:column` of the rule, where it is known. */
  readonly span: string | null;
  /** The names still needed: tools to call, roles to approve, calls to wait for. */
  readonly needs: readonly string[];
  /** The values that mattered: pairs of an expression and its value. */
  readonly values: readonly (readonly [string, string])[];
}

export interface Note {
  readonly kind: string;
  readonly rule: string;
  readonly message: string;
}

/** The decision on a proposed call. An object is always true in a condition: ask for `allowed`. */
export class Verdict {
  private constructor();
  /** `ask`: somebody must approve. `wait`: for a call in flight. */
  readonly decision: "allow" | "deny" | "ask" | "wait";
  /** True if the call may run. */
  readonly allowed: boolean;
  /** The id of the call. */
  readonly call: string;
  readonly tool: string;
  /** The arguments as they were judged, JSON text. */
  readonly argsText: string;
  /** The text for the agent: all reasons with their help, a line each. */
  readonly message: string;
  readonly reasons: readonly Reason[];
  /** The verdicts of rules in shadow, which have no effect. */
  readonly shadowed: readonly Reason[];
  /** The names that the reasons need, sorted. */
  readonly needs: readonly string[];
  /** The arguments that a `transform` asks for, JSON text: a call of its own, to be proposed. */
  readonly insteadText: string | null;
  /** True if the guard serves the tool itself: there is nothing to run. */
  readonly isServed: boolean;
  /** The result of a tool that the guard serves. */
  readonly served: unknown;
  /** The same as JSON text. */
  readonly servedText: string | null;
  /** The feedback that the verdict calls for: texts, in order. */
  readonly feedback: readonly string[];
  /** The feedback as one text; empty if there is none. */
  readonly rendered: string;
  readonly notes: readonly Note[];
  /** The record of the event: one line of the session's trace. */
  readonly record: string;
  /** The id of the request for approval in the store, where the session keeps requests there. */
  readonly request: string | null;
  toJSON(): object;
}

/** The outcome of a settled call. */
export class Settled {
  private constructor();
  readonly feedback: readonly string[];
  readonly rendered: string;
  /** True if the session is halted now. */
  readonly halted: boolean;
  /** The result that the agent must read in place of the tool's, JSON text; null where it is the tool's. */
  readonly shownText: string | null;
  readonly notes: readonly Note[];
  readonly record: string;
}

/** The answer to an agent that would stop. */
export class Stopped {
  private constructor();
  readonly allowed: boolean;
  readonly decision: "allow" | "block";
  /** The text for the agent; empty if nothing is missing. */
  readonly message: string;
  /** The reason why nothing was checked: `halted`, `deadline` or an exhausted unit. */
  readonly bypassed: string | null;
  /** True if the agent may stop although something is missing. */
  readonly incomplete: boolean;
  readonly missing: readonly { readonly text: string; readonly message: string; readonly span: string | null }[];
  readonly notes: readonly Note[];
  readonly record: string;
}

export interface CallOptions {
  /** The id of the call; the number of its record where it is left out. */
  call?: string;
  /** Ends the call: a wait without a run, a run as a failure. */
  signal?: AbortSignal;
}

export interface RunOptions extends CallOptions {
  /** How many milliseconds the tool may take; then the call is settled as failed. */
  timeout?: number;
}

/** What a tool is told beside its arguments. */
export interface Running {
  /** Aborted when the call ends early: the tool should stop. */
  readonly signal: AbortSignal;
  readonly call: string;
}

/** The events that need no result at hand, as promises: in their order, and beside the event loop where they may wait for a disk. */
export interface Events {
  /** Decides a call before it runs. If it is allowed, the call is in flight until it is settled. */
  propose(tool: string, args?: Args, options?: { call?: string }): Promise<Verdict>;
  /** The verdict that a call would get now. Nothing changes, and nothing is recorded. */
  preview(tool: string, args?: Args): Promise<Verdict>;
  /** Says how an allowed call ended. Throws `ArgumentError` where the result is not JSON; nothing is settled then. */
  settle(call: string, result?: unknown, options?: { outcome?: "success" | "failure" }): Promise<Settled>;
  /** Records that a person in a role approves exactly this call, until `expires` or for an hour. */
  approve(tool: string, args: Args | undefined, by: { role: string; by: string; expires?: Time }): Promise<void>;
  /** Records that a person takes back what a role has approved of exactly this call. */
  revoke(tool: string, args: Args | undefined, by: { role: string; by: string }): Promise<void>;
  /** Adds to what was spent of a unit that the host charges. False if the guard charges nothing of it. */
  usage(unit: string, amount: number | string): Promise<boolean>;
  /** Ends a halt, in the name of a person in a role. */
  resume(by: { role: string; by: string }): Promise<void>;
  /** Tells the words of the user: facts are learned from them. Returns the number of rows that were learned. */
  prompt(text: string): Promise<number>;
  /** Asks whether the agent may stop. A blocked stop says what is missing. */
  stop(reason?: string): Promise<Stopped>;
  /** Every tool judged and ranked, with the same as text under `prompt`. Nothing changes. */
  advise(): Promise<{ readonly prompt: string; readonly [key: string]: unknown }>;
  /** Judges the criteria of an item, which then is verified or goes back. Returns the change. */
  verifyItem(item: string): Promise<unknown>;
  /** Moves an item by hand, in somebody's name. Returns the change. */
  moveItem(item: string, transition: string, by: { by: string; reason?: string }): Promise<unknown>;
  /** All of one item. */
  item(item: string): Promise<unknown>;
  /** At most `limit` rows of a fact, oldest first. */
  facts(fact: string, options?: { start?: number; limit?: number }): Promise<{ number: number; row: unknown; by: string }[]>;
  /** Judges a text that an agent wrote by a contract of the guard and by what the session knows. */
  check(contract: string, text: string, options?: CheckOptions): Promise<Report>;
}

type Now<F> = F extends (...given: infer Given) => Promise<infer Result> ? (...given: Given) => Result : never;
type EventsNow = { [Name in keyof Events]: Now<Events[Name]> };

export interface Session extends EventsNow {}

/** One agent's run under a guard, in one thread. */
export class Session {
  private constructor();
  readonly guard: Guard;
  readonly id: string;
  readonly wait: number;
  readonly promises: Events;
  /**
   * Runs a tool behind the guard: proposes the call, waits its turn, runs `run` with the arguments that were judged, and
   * settles the call: as a success with what it returns, as a failure after whatever it throws, a time-out or an abort.
   * Throws `Denied`, `ApprovalNeeded` or `WaitTimeout` where it may not run. A tool that the guard serves returns its result.
   */
  call<Result>(tool: string, args: Args | undefined, run: (args: any, running: Running) => Awaitable<Result>, options?: RunOptions): Promise<Result>;
  /** A function behind the guard. A denied call throws `Denied`, or returns its message with `denied: "message"`. */
  tool<Given extends Args, Result>(name: string, run: (args: Given, running: Running) => Awaitable<Result>, options: { denied: "message"; timeout?: number }): (args?: Given, options?: CallOptions) => Promise<Result | string>;
  tool<Given extends Args, Result>(name: string, run: (args: Given, running: Running) => Awaitable<Result>, options?: { denied?: "throw"; timeout?: number }): (args?: Given, options?: CallOptions) => Promise<Result>;
  /** One call in steps, for adapters. */
  scope(tool: string, args?: Args, options?: CallOptions): CallScope;
  /** The feedback of settled scopes and tools that nobody has read yet: texts, in order. */
  feedback(): string[];
  /** The call of an `ask` verdict as a value that survives the process. */
  pending(verdict: Verdict): PendingApproval;
  /** Proposes a pending call again: the same tool and arguments under the same id. */
  proposePending(pending: PendingApproval): Verdict;
  /** Records that a person approves a pending call, in `role` or in each role that it needs. */
  approvePending(pending: PendingApproval, by: { by: string; role?: string; expires?: Time }): void;
  /** True if the session went on from earlier records when it was opened. */
  readonly isResumed: boolean;
  /** The ids of the calls that were allowed and are not settled. */
  readonly inFlight: string[];
  /** The rule and the message of the halt, if the session is halted. */
  readonly halted: { rule: string; message: string } | null;
  /** The session's memory, without secrets. */
  readonly state: Record<string, any>;
  /** The number of records, and the hash of the last one. */
  readonly head: [number, string];
  /** The lines of the session's trace, oldest first. */
  records(): string[];
  /** The session's whole memory; `guard.session(id, { snapshot })` goes on from it. */
  snapshot(): Buffer;
  /** Gives the session up. Every later event throws `Closed`, and so do the calls that wait. */
  close(): void;
  readonly isClosed: boolean;
}

/** One call: `enter` proposes it and waits its turn, `succeed` or `fail` settles it. */
export class CallScope {
  private constructor();
  readonly session: Session;
  readonly tool: string;
  readonly call: string;
  readonly verdict: Verdict;
  /** The arguments with which the tool runs: those that were judged, read anew. */
  readonly args: any;
  /** The outcome of the settlement, once the call is settled. */
  readonly settled?: Settled;
  /** Proposes the call and waits its turn. Throws `Denied`, `ApprovalNeeded`, `WaitTimeout` or `Served`. */
  enter(): Promise<this>;
  /** The first half of `enter`: proposes the call. Returns what `entered` waits for. */
  begin(): Promise<unknown>;
  /** The second half of `enter`: waits for the call's turn. */
  entered(waiting: unknown): Promise<this>;
  /** Runs the tool of an entered call and settles it, in whatever way it ends. */
  run<Result>(run: (args: any, running: Running) => Awaitable<Result>, timeout?: number): Promise<Result>;
  /** Settles the call as a success. A result that is not JSON counts as one that does not decode. */
  succeed(result?: unknown): Promise<Settled>;
  /** Settles the call as a failure. */
  fail(): Promise<Settled>;
}

/** A call that needs an approval: a value that survives the process. `JSON.stringify` writes it. */
export class PendingApproval {
  constructor(members: { session: string; call: string; tool: string; argsText: string; roles: readonly string[]; message: string; request?: string | null });
  /** The value that `JSON.stringify` wrote, from its text or from the object in it. Throws `ArgumentError`. */
  static from(saved: string | object): PendingApproval;
  readonly session: string;
  readonly call: string;
  readonly tool: string;
  readonly argsText: string;
  readonly args: any;
  readonly roles: readonly string[];
  readonly message: string;
  readonly request: string | null;
  toJSON(): object;
}

export interface CheckOptions {
  /** The reason why the producer stopped, as the model's provider gives it. */
  finishReason?: string;
  /** Known values by the name of their list, for references. */
  known?: { readonly [list: string]: readonly unknown[] };
}

/** One contract of a guard. */
export class Contract {
  private constructor();
  readonly name: string;
  /** Judges a text outside of any session. */
  check(text: string | Uint8Array, options?: CheckOptions): Report;
  /** The same in another thread: for long texts. */
  checkLater(text: string | Uint8Array, options?: CheckOptions): Promise<Report>;
  /** Begins to judge a text that arrives in pieces. */
  feed(options?: { known?: CheckOptions["known"] }): Feed;
  /** Its JSON Schema; `strict`: as APIs with strict structured outputs accept it. Throws `ContractError` where that cannot express it. */
  schema(options?: { known?: CheckOptions["known"]; profile?: "full" | "strict" }): any;
  /** The instructions for a producer, in words. */
  prompt(options?: { known?: CheckOptions["known"] }): string;
}

/** A text that arrives in pieces. The report is the same as for the whole text, wherever it was cut. */
export interface Feed {
  /** Takes a piece, and returns the valid items that it completes. Only the report is final. */
  push(text: string | Uint8Array): any[];
  /** Ends the text. */
  finish(options?: { finishReason?: string }): Report;
}

/** The report on a text. */
export class Report {
  private constructor();
  /** `valid`, or a word for what remains. */
  readonly state: string;
  readonly valid: boolean;
  /** The number of items that survived. */
  readonly kept: number;
  /** The number of units that did not survive. */
  readonly quarantinedCount: number;
  readonly truncated: boolean;
  /** True if a person should look. */
  readonly reviewRequired: boolean;
  /** The members of the envelope that hold. */
  readonly envelope: any;
  /** The values of the items that survived, by list. */
  readonly items: { readonly [list: string]: any[] };
  /** What survived, and nothing else: an object, or the list or value that the document is. */
  readonly values: any;
  /** The problems, in words; at most ten of them. */
  readonly lacks: string;
  /** The whole report. */
  toJSON(): any;
}

/** A request for approval in a store. */
export interface ApprovalRequest {
  readonly id: string;
  readonly session: string;
  readonly tool: string;
  readonly args: any;
  readonly roles: readonly string[];
  readonly call: string;
  readonly actor: string | null;
  readonly askedAt: string;
  readonly state: "open" | "granted" | "refused" | "over";
}

/** A folder of JSON Lines, or an SQLite database where the path ends in `.db`, `.sqlite` or `.sqlite3`. */
export class Store {
  /** `full`: each record is on disk when it is acknowledged. `key`: the path of a key file, beside the records where it is left out. */
  constructor(path: string, options?: { durability?: "full" | "batch" | "off"; key?: string });
  readonly path: string;
  /** True if it has a session with this id. */
  has(session: string): boolean;
  /** The requests for approval, of one session or of all. */
  requests(session?: string): ApprovalRequest[];
  /** Grants a request to one call within an hour, or to any number of identical calls for `seconds`. */
  grant(request: string, by: { by: string; role?: string; seconds?: number }): ApprovalRequest;
  /** Refuses a request; the agent reads the reason when it makes the call again. */
  reject(request: string, by: { by: string; reason: string }): ApprovalRequest;
  /** Takes the grants of a request back, as far as they are not used up. */
  revoke(request: string, by: { by: string }): ApprovalRequest;
}
