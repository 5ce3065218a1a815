// Agents of the OpenAI Agents SDK behind a guard.
//
//     const guarded = new Guarded(session);
//     const refund = guarded.tool({ name: "refund", description: "…", parameters, execute });
//     const agent = new Agent({ name: "support", model, tools: [refund] });
//     const result = await guarded.run(agent, "Please refund order A1.");
//
// The guard stands directly around `execute`. See `docs/guide/frameworks.md` for what the framework keeps out of its reach.
import { Runner, handoff, tool as frameworkTool, user } from "@openai/agents";
import { ArgumentError, GuardError, Incomplete } from "../lib/index.mjs";
import { admitted, exactInput, inTurn, judged, lastTurn, refusal, refused, sessionOf } from "./shared.mjs";

/** The words of the framework for a tool that failed; it does not export them. */
const FAILED = "An error occurred while running the tool. Please try again.";

/** The tools that some guard stands around. */
const guardedTools = new WeakSet();

export class Guarded {
  #source;
  #approve;
  #stops;
  #runner;
  #integers;
  /** Per session: the calls that the guard has seen, the words that replace the framework's, feedback by call. */
  #memories = new WeakMap();
  /** Per context of a run: the tokens that were reported. */
  #reported = new WeakMap();
  /** The outcome of the last stop. */
  stopped;

  /**
   * `session`: the session, or a function from the run's context to the session. `approve`: called for each role that a
   * call needs, with the pending call; returns `{ by, expires }`, or nothing. `stops`: ask the guard before the agent ends.
   * `integers: "bigint"`: tools get integers that a number cannot hold as BigInts, instead of other integers.
   */
  constructor(session, { approve, stops = true, runner, integers = "number" } = {}) {
    this.#source = session;
    this.#approve = approve;
    this.#stops = stops;
    this.#runner = runner;
    this.#integers = integers;
  }

  #session(context) {
    return sessionOf(this.#source, context);
  }
  #memory(session) {
    let memory = this.#memories.get(session);
    if (memory === undefined) {
      memory = { seen: new Set(), words: new Map(), feedback: new Map(), running: new Map() };
      this.#memories.set(session, memory);
    }
    return memory;
  }

  // Tools

  /** A tool of the framework behind the guard: takes what the framework's own `tool` takes. */
  tool(options) {
    const made = frameworkTool({
      ...options,
      execute: (input, context, details) => this.#execute(options, input, context, details),
      errorFunction: (context, error, details) => this.#answered(options, context, error, details),
    });
    guardedTools.add(made);
    return made;
  }

  /** A handoff of the framework: takes what its own `handoff` takes, except for `onHandoff` and `inputType`. */
  handoff(agent, options) {
    return plainHandoff(agent, options);
  }

  async #execute(options, input, context, details) {
    const session = this.#session(context?.context);
    const { name, callId, arguments: written } = details.toolCall;
    const memory = this.#memory(session);
    memory.seen.add(callId);
    const exact = this.#integers === "bigint" ? exactInput(written, input) : undefined;
    const scoped = { call: callId, signal: details.signal, isExact: exact !== undefined };
    const args = async () => {
      await this.#report(session, context);
      return exact ? { real: written } : judged(written, input);
    };
    const scope = await admitted(session, name, args, scoped, this.#approve);
    const running = scope.run((args, { signal }) => options.execute(exact ?? input, context, { ...details, signal }));
    memory.running.set(running, details.signal);
    try {
      return this.#delivered(session, callId, await running);
    } finally {
      memory.running.delete(running);
    }
  }

  /** Keeps the feedback on a call, to be shown after its result. */
  #delivered(session, callId, result) {
    const { feedback } = this.#memory(session);
    const blocks = session.feedback();
    if (blocks.length) feedback.set(callId, [...(feedback.get(callId) ?? []), ...blocks]);
    return result;
  }

  /** The answer of a tool that did not run, or that failed. What is no refusal of a call ends the run. */
  async #answered(options, context, error, details) {
    const words = refusal(error, details?.toolCall?.callId);
    if (words !== undefined) return words;
    if (error instanceof GuardError) throw error;
    const session = this.#session(context?.context);
    await this.#report(session, context);
    if (details?.toolCall) {
      const denial = await this.#unread(session, details.toolCall);
      if (denial) return denial;
      this.#delivered(session, details.toolCall.callId);
    }
    if (options.errorFunction === null) throw error;
    return options.errorFunction === undefined ? FAILED : options.errorFunction(context, error, details);
  }

  /** Puts a call to the guard whose arguments the framework refuses; the guard's words come first. */
  async #unread(session, toolCall) {
    const memory = this.#memory(session);
    if (memory.seen.has(toolCall.callId)) return "";
    memory.seen.add(toolCall.callId);
    return inTurn(session, () => refused(session, toolCall));
  }

  /** Reports the tokens that the model has used since the last report. */
  async #report(session, context) {
    const used = context?.usage?.totalTokens ?? 0;
    const before = this.#reported.get(context) ?? 0;
    if (used <= before) return;
    this.#reported.set(context, used);
    await session.promises.usage("tokens", used - before);
  }

  // The run

  /** Runs an agent as `run` of the framework does. A blocked stop goes on with the guard's message. */
  async run(agent, input, options = {}) {
    if (options.stream) throw new ArgumentError("use `stream` for a run that streams");
    const rounds = this.#rounds(agent, input, options, false);
    for (;;) {
      const { done, value } = await rounds.next();
      if (done) return value;
    }
  }

  /** Runs an agent and yields the framework's events; returns its result. A blocked stop goes on with the guard's message. */
  stream(agent, input, options = {}) {
    return this.#rounds(agent, input, { ...options, stream: true }, true);
  }

  async *#rounds(agent, input, options, streams) {
    const session = this.#session(options.context?.context ?? options.context);
    expectGuarded(agent, session);
    const runner = this.#runner ?? new Runner();
    const words = lastWords(input);
    if (words) await session.promises.prompt(words);
    const given = this.#options(session, options);
    for (;;) {
      let result;
      try {
        result = await runner.run(agent, input, given);
        if (streams) {
          yield* result;
          await result.completed;
        }
      } finally {
        // The framework does not wait for the tools of a run that is cancelled: their calls are settled first.
        await lastTurn(session);
        const ending = [...this.#memory(session).running].filter(([, signal]) => signal?.aborted);
        await Promise.allSettled(ending.map(([running]) => running));
      }
      await this.#report(session, result.state._context ?? result.runContext);
      if (!this.#stops || result.interruptions?.length) return result;
      this.stopped = await session.promises.stop(finishReason(result));
      if (this.stopped.allowed) return result;
      if (given.signal?.aborted) throw new Incomplete(this.stopped);
      agent = result.lastAgent ?? agent;
      const message = user(this.stopped.message);
      // Only the message is new if the framework or the provider keeps the conversation.
      input = given.session || given.conversationId || given.previousResponseId ? [message] : [...result.history, message];
      if (given.previousResponseId) given.previousResponseId = result.lastResponseId;
    }
  }

  #options(session, options) {
    const memory = this.#memory(session);
    let first = true;
    return {
      ...options,
      toolNotFoundBehavior: "return_error_to_model",
      toolErrorFormatter: async (asked) => {
        await this.#report(session, asked.runContext);
        return options.toolErrorFormatter?.(asked);
      },
      callModelInputFilter: async (asked) => {
        expectGuarded(asked.agent, session);
        const data = (await options.callModelInputFilter?.(asked)) ?? asked.modelData;
        if (first) for (const item of data.input) if (item.type === "function_call") memory.seen.add(item.callId);
        first = false;
        return { ...data, input: await this.#shown(session, memory, data.input) };
      },
    };
  }

  /** What the model is shown: the guard's words for calls that never reached a tool, and feedback behind results. */
  async #shown(session, memory, input) {
    for (const item of input) {
      if (item.type !== "function_call" || memory.seen.has(item.callId)) continue;
      memory.seen.add(item.callId);
      const denial = await refused(session, item);
      if (denial) memory.words.set(item.callId, denial);
    }
    const answers = input.filter((item) => item.type === "function_call_result");
    const last = answers.at(-1);
    const blocks = session.feedback();
    if (blocks.length && last) memory.feedback.set(last.callId, [...(memory.feedback.get(last.callId) ?? []), ...blocks]);
    return withFeedback(memory, input.map((item) => {
      const words = item.type === "function_call_result" ? memory.words.get(item.callId) : undefined;
      return words === undefined ? item : { ...item, output: { type: "text", text: words } };
    }));
  }
}

/** Puts feedback behind the results of the turn in which it was given. */
function withFeedback(memory, input) {
  const shown = [];
  let waiting = [];
  for (const [place, item] of input.entries()) {
    shown.push(item);
    if (item.type !== "function_call_result") continue;
    waiting.push(...(memory.feedback.get(item.callId) ?? []));
    if (input[place + 1]?.type === "function_call_result") continue;
    if (waiting.length) shown.push(user(waiting.join("\n\n")));
    waiting = [];
  }
  return shown;
}

function lastWords(input) {
  if (typeof input === "string") return input;
  const last = Array.isArray(input) ? input.at(-1) : undefined;
  if (last?.role !== "user") return "";
  return typeof last.content === "string" ? last.content : last.content.map((part) => part.text ?? "").join("");
}

function finishReason(result) {
  const data = result.rawResponses.at(-1)?.providerData;
  return data?.finish_reason ?? data?.choices?.[0]?.finish_reason;
}

/** The agents of whose other tools somebody was warned. */
const warned = new WeakSet();

/** Returns true if a tool runs at the provider. One that the provider lets the agent search for tools may carry a function. */
const isHosted = (tool) => tool.type === "hosted_tool" && Reflect.ownKeys(tool).every((key) => typeof tool[key] !== "function");

/** Refuses an agent with tools that no guard stands around; warns of those that run at the provider. */
function expectGuarded(agent, session, known = new Set()) {
  if (known.has(agent)) return;
  known.add(agent);
  const open = agent.tools.filter((tool) => !isHosted(tool) && !guardedTools.has(tool)).map((tool) => tool.name ?? tool.type);
  if (open.length) throw new GuardError(`no guard stands around ${open.map((name) => `\`${name}\``).join(", ")}: make them with \`guarded.tool\``);
  if (agent.capabilities !== undefined) throw new GuardError("no guard stands around the tools that a sandbox agent adds: use an `Agent`");
  if (agent.mcpServers?.length) throw new GuardError("no guard stands around the agent's MCP servers: start them behind `guardc mcp-proxy`, and leave out `mcpServers`");
  const elsewhere = agent.tools.filter(isHosted).map((tool) => tool.name ?? tool.type);
  if (elsewhere.length && !warned.has(agent)) {
    warned.add(agent);
    process.emitWarning(`no guard sees tools that run at the provider: ${elsewhere.join(", ")}`, { code: "UNGUARDED_TOOL" });
  }
  for (const each of agent.handoffs ?? []) {
    expectPlain(each.onInvokeHandoff ? each : plainHandoff(each), session);
    expectGuarded(each.agent ?? each, session, known);
  }
}

/** The handoffs without a function of the host, with what the framework calls for each. Nothing tells them from others. */
const plainHandoffs = new WeakMap();

/** Refuses a handoff that may run a function of the host, or that has the name of a tool: it gets no verdict. */
function expectPlain(made, session) {
  if (plainHandoffs.get(made) !== made.onInvokeHandoff) throw new GuardError(`no guard stands around the handoff \`${made.toolName}\`: name the agent itself in \`handoffs\`, or make it with \`guarded.handoff\``);
  if (!session.guard.tools.some(({ name, guardName }) => [name, guardName].includes(made.toolName))) return;
  throw new GuardError(`the handoff \`${made.toolName}\` has the name of a tool of the guard, which does not judge handoffs`);
}

/** A handoff of the framework that only hands over. */
function plainHandoff(agent, options = {}) {
  const { onHandoff, inputType } = options;
  if (onHandoff != null || inputType != null) throw new ArgumentError("a handoff gets no verdict, so that it runs no function and takes no input: make a tool");
  const made = handoff(agent, options);
  plainHandoffs.set(made, made.onInvokeHandoff);
  return made;
}
