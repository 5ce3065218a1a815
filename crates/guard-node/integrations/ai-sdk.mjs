// Agents of the Vercel AI SDK behind a guard.
//
//     const guarded = new Guarded(session);
//     const agent = guarded.agent({ model, tools: { refund: tool({ … }) } });
//     const result = await agent.generate({ prompt: "Please refund order A1." });
//
// The guard stands around `execute` of every tool and around the model. See `docs/guide/frameworks.md` for what the framework
// keeps out of its reach.
import { ToolLoopAgent, experimental_createSteering as createSteering, gateway, generateText, streamText, wrapLanguageModel } from "ai";
import { GuardError, Incomplete, Served } from "../lib/index.mjs";
import { admitted, asWritten, exactInput, inTurn, judged, lastTurn, refusal, refused, sessionOf, warnUnguarded } from "./shared.mjs";

export class Guarded {
  #settings;
  /** The outcome of the last stop. */
  stopped;

  /**
   * `session`: the session, or a function from the framework's `runtimeContext` to the session. `approve`: called for each role
   * that a call needs, with the pending call; returns `{ by, expires }`, or nothing. `stops`: ask the guard before the agent
   * ends. `integers: "bigint"`: tools get integers that a number cannot hold as BigInts, instead of other integers.
   */
  constructor(session, { approve, stops = true, integers = "number" } = {}) {
    this.#settings = { source: session, approve, stops, integers, stopped: (outcome) => (this.stopped = outcome) };
  }

  #run(options) {
    return new Run(this.#settings, options);
  }

  /** Generates as `generateText` of the framework does. */
  generateText(options) {
    const run = this.#run(options);
    return run.generated(async () => generateText(await run.guard(options)));
  }

  /** Streams as `streamText` of the framework does, once the guard has heard the prompt. */
  async streamText(options) {
    return streamText(await this.#run(options).guard(options));
  }

  /** An agent of the framework behind the guard: takes what its `ToolLoopAgent` takes. */
  agent(settings) {
    const made = (run) => new ToolLoopAgent({ ...settings, prepareCall: async (given) => run.guard((await settings.prepareCall?.(given)) ?? given) });
    const withSteering = (run, options) => ({ ...options, experimental_steering: run.steering });
    return {
      version: "agent-v1",
      id: settings.id,
      tools: settings.tools,
      generate: (options = {}) => {
        const run = this.#run(options);
        return run.generated(() => made(run).generate(withSteering(run, options)));
      },
      stream: async (options = {}) => {
        const run = this.#run(options);
        return made(run).stream(withSteering(run, options));
      },
    };
  }
}

/** One run of the framework's loop. */
class Run {
  /** What the guard itself steers the run with. */
  #own = new Set();
  /** The arguments of the last answer as the model wrote them, by call. */
  #written = new Map();
  /**
   * All calls by id, each id in the order of its calls, since providers use ids again: the arguments as the model wrote them (`input`), and
   * the guard's `words` for a call that never reached a tool.
   */
  #calls = new Map();
  #running = new Map();
  #stopped;
  /** The first failure of the guard: from then on nothing runs. */
  #failure;

  constructor(settings, { experimental_steering: steering = createSteering() }) {
    this.settings = settings;
    this.steering = steering;
  }

  /** The options of a run with the guard in its places. */
  async guard(options) {
    this.session = sessionOf(this.settings.source, options.runtimeContext);
    const words = lastWords(options);
    if (words) await this.session.promises.prompt(words);
    return {
      ...options,
      model: this.#model(options.model),
      tools: options.tools && this.#tools(options.tools),
      prepareStep: this.#prepareStep(options.prepareStep),
      experimental_steering: this.steering,
    };
  }

  /** Runs to the end. Throws where the guard failed or has not let the agent stop. */
  async generated(generate) {
    let result;
    try {
      result = await generate();
    } finally {
      // Calls of a run that is cancelled are settled before it ends.
      if (this.session) await lastTurn(this.session);
      const ending = [...this.#running].filter(([, signal]) => signal?.aborted);
      await Promise.allSettled(ending.map(([running]) => running));
    }
    this.#expectSound();
    if (this.#stopped?.allowed === false) throw new Incomplete(this.#stopped);
    return result;
  }

  #expectSound() {
    if (this.#failure) throw this.#failure;
  }
  #failed(error) {
    this.#failure ??= error;
    return error;
  }

  // The model

  #model(model) {
    const middleware = {
      specificationVersion: "v4",
      transformParams: async ({ params }) => ({ ...params, prompt: this.#remembered(params.prompt) }),
      wrapGenerate: async ({ doGenerate }) => {
        this.#expectSound();
        const answer = await doGenerate();
        await this.#answered(answer.content, answer);
        return answer;
      },
      wrapStream: async ({ doStream }) => {
        this.#expectSound();
        const { stream, ...rest } = await doStream();
        const content = [];
        const transform = async (part, controller) => {
          if (part.type === "tool-call" || part.type === "tool-result") content.push(part);
          if (part.type === "finish") await this.#answered(content, part);
          controller.enqueue(part);
        };
        return { ...rest, stream: stream.pipeThrough(new TransformStream({ transform })) };
      },
    };
    const named = typeof model === "string" ? (globalThis.AI_SDK_DEFAULT_PROVIDER ?? gateway).languageModel(model) : model;
    return wrapLanguageModel({ model: named, middleware });
  }

  /** Reports what the model used before its calls are judged, and asks whether it may stop where there are none. */
  async #answered(content, { usage, finishReason }) {
    try {
      const calls = content.filter(({ type }) => type === "tool-call");
      const ids = calls.map(({ toolCallId }) => toolCallId);
      // Two calls with one id leave nobody to say which text is whose.
      const single = calls.filter(({ toolCallId }) => ids.indexOf(toolCallId) === ids.lastIndexOf(toolCallId));
      this.#written = new Map(single.map((call) => [call.toolCallId, call.input]));
      for (const call of calls) {
        const made = this.#calls.get(call.toolCallId) ?? [];
        this.#calls.set(call.toolCallId, [...made, { input: single.includes(call) ? asWritten(call.input) : undefined }]);
      }
      const tokens = (usage?.inputTokens?.total ?? 0) + (usage?.outputTokens?.total ?? 0);
      if (tokens) await this.session.promises.usage("tokens", tokens);
      const done = new Set(content.filter(({ type }) => type === "tool-result").map(({ toolCallId }) => toolCallId));
      if (this.settings.stops && ids.every((id) => done.has(id))) await this.#stop(finishReason);
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /** The conversation with the model's calls as it wrote them; the framework keeps what validation made of them. */
  #remembered(messages) {
    return this.#mapped(messages, "tool-call", (part, { input }) => (input === undefined ? part : { ...part, input }));
  }

  /** Messages in which each part of a type is mapped with the call it belongs to. The last part with an id belongs to the last call with it. */
  #mapped(messages, type, map) {
    const isPart = (part) => part.type === type && this.#calls.has(part.toolCallId);
    const at = new Map();
    for (const { toolCallId: id } of messages.flatMap(({ content }) => content).filter(isPart)) at.set(id, (at.get(id) ?? this.#calls.get(id).length) - 1);
    const mapped = (part) => {
      const place = at.get(part.toolCallId);
      at.set(part.toolCallId, place + 1);
      return map(part, this.#calls.get(part.toolCallId)[place] ?? {});
    };
    return messages.map((message) =>
      Array.isArray(message.content) ? { ...message, content: message.content.map((part) => (isPart(part) ? mapped(part) : part)) } : message);
  }

  async #stop({ raw, unified }) {
    this.#stopped = await this.session.promises.stop(raw ?? unified);
    this.settings.stopped(this.#stopped);
    if (this.#stopped.allowed) return;
    const message = { role: "user", content: this.#stopped.message };
    this.#own.add(message);
    this.steering.steer(message);
  }

  // Steps

  #prepareStep(own) {
    return async (step) => {
      this.#expectSound();
      try {
        for (const message of step.experimental_steeringMessages ?? []) {
          if (!this.#own.has(message)) await this.session.promises.prompt(textOf(message.content));
        }
        step = { ...step, messages: await this.#shown(step) };
      } catch (error) {
        throw this.#failed(error);
      }
      const prepared = await own?.(step);
      const model = prepared?.model && { model: this.#model(prepared.model) };
      return { ...prepared, ...model, messages: prepared?.messages ?? step.messages };
    };
  }

  /** What the model is shown: the guard's words for calls that never reached a tool, and feedback behind results. */
  async #shown({ messages, steps }) {
    for (const { toolCallId, toolName, input, invalid } of steps.at(-1)?.toolCalls ?? []) {
      const call = this.#calls.get(toolCallId)?.at(-1);
      if (!invalid || !call || "words" in call) continue;
      const written = this.#written.get(toolCallId) ?? (typeof input === "string" ? input : JSON.stringify(input));
      const denial = await inTurn(this.session, () => refused(this.session, { name: toolName, callId: toolCallId, arguments: blank(written) }));
      call.words = denial || undefined;
    }
    const shown = this.#mapped(messages, "tool-result", (part, { words }) => (words === undefined ? part : { ...part, output: { type: "error-text", value: words } }));
    const blocks = this.session.feedback();
    return blocks.length ? [...shown, { role: "user", content: blocks.join("\n\n") }] : shown;
  }

  // Tools

  #tools(tools) {
    const isOurs = (tool) => typeof tool.execute === "function";
    const elsewhere = Object.entries(tools).filter(([, tool]) => !isOurs(tool)).map(([name]) => name);
    warnUnguarded(elsewhere, "no guard sees tools that are not run here");
    return Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, isOurs(tool) ? this.#tool(name, tool) : tool]));
  }

  #tool(name, tool) {
    const run = (input, options, push) => this.#execute(name, tool, input, options, push);
    const isStreamed = tool.execute.constructor?.name === "AsyncGeneratorFunction";
    const execute = isStreamed ? (input, options) => streamed((push) => run(input, options, push)) : (input, options) => run(input, options);
    return Object.assign(Object.create(Object.getPrototypeOf(tool)), tool, { execute });
  }

  async #execute(name, tool, input, options, push) {
    const { toolCallId: call, abortSignal } = options;
    let failure;
    try {
      this.#expectSound();
      const written = blank(this.#written.get(call) ?? JSON.stringify(input));
      const exact = this.settings.integers === "bigint" ? exactInput(written, input) : undefined;
      const given = () => (exact ? { real: written } : judged(written, input));
      const scoped = { call, signal: abortSignal, isExact: exact !== undefined };
      const scope = await admitted(this.session, name, given, scoped, this.settings.approve);
      const running = scope.run(async (_, { signal }) => {
        try {
          this.#expectSound();
          const result = await tool.execute(exact ?? input, { ...options, abortSignal: signal });
          return push ? await last(result, push) : result;
        } catch (error) {
          failure = error;
          throw error;
        }
      });
      this.#running.set(running, abortSignal);
      try {
        return await running;
      } finally {
        this.#running.delete(running);
      }
    } catch (error) {
      if (error === failure) throw error;
      if (error instanceof Served) return refusal(error, call);
      throw this.#refused(error, call);
    }
  }

  /** The framework tells the model, as an error, how what a tool throws writes itself. */
  #refused(error, call) {
    const words = refusal(error, call);
    if (words !== undefined) return new Refused(words, { cause: error });
    return error instanceof GuardError ? this.#failed(error) : error;
  }
}

/** A call that did not run, with the words of the guard for the model. */
class Refused extends Error {
  toString() {
    return this.message;
  }
}

/** What the framework takes as no arguments. */
const blank = (written) => (written.trim() === "" ? "{}" : written);

/** Hands each part of a streamed result on, and returns the last, which the framework takes as the result. */
async function last(parts, push) {
  let result;
  for await (const part of parts) await push((result = part));
  return result;
}

/** The parts that a run pushes. */
async function* streamed(run) {
  const { readable, writable } = new TransformStream();
  const writer = writable.getWriter();
  const running = run((part) => writer.write(part)).then(() => writer.close(), (error) => writer.abort(error));
  running.catch(() => undefined);
  yield* readable;
}

const textOf = (content) => (typeof content === "string" ? content : content.map((part) => part.text ?? "").join(""));

function lastWords({ prompt, messages }) {
  if (typeof prompt === "string") return prompt;
  const message = (Array.isArray(prompt) ? prompt : messages)?.at(-1);
  return message?.role === "user" ? textOf(message.content) : "";
}
