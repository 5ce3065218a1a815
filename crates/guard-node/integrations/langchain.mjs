// Agents of LangChain.js behind a guard: one middleware.
//
//     const agent = createAgent({ model, tools: [refund], middleware: [guardMiddleware(session)] });
//
// Put it last in the list, so that it stands directly around the tools. See `docs/guide/frameworks.md` for what the framework
// keeps out of its reach.
import { interopSafeParseAsync, isInteropZodSchema } from "@langchain/core/utils/types";
import { AIMessage, HumanMessage, ToolMessage, createMiddleware } from "langchain";
import { Served } from "../lib/index.mjs";
import { admitted, exactInput, inTurn, judged, refusal, refused, sessionOf } from "./shared.mjs";

/**
 * The middleware. `session`: the session, or a function from the framework's runtime to the session of the run, found by
 * `runtime.configurable` for example. `approve`: called for each role that a call needs, with the pending call; returns
 * `{ by, expires }`, or nothing. `stops`: ask the guard before the agent ends. `integers: "bigint"`: tools get integers that a
 * number cannot hold as BigInts, instead of other integers. `throws`: hand the errors of tools to the middleware in front,
 * instead of telling them the model.
 */
export function guardMiddleware(session, { approve, stops = true, integers = "number", throws = false } = {}) {
  const guard = new Middleware({ source: session, approve, stops, integers, throws });
  const middleware = createMiddleware({
    name: "guard",
    beforeAgent: (state, runtime) => guard.beforeAgent(state, runtime),
    beforeModel: (state, runtime) => guard.beforeModel(runtime),
    afterModel: { canJumpTo: ["model"], hook: (state, runtime) => guard.afterModel(state, runtime) },
    wrapModelCall: (request, handler) => guard.wrapModelCall(request, handler),
    wrapToolCall: (request, handler) => guard.wrapToolCall(request, handler),
  });
  return Object.defineProperty(middleware, "stopped", { enumerable: true, get: () => guard.stopped });
}

class Middleware {
  /** Per session: the arguments of the last answer's calls as the model wrote them. */
  #written = new WeakMap();
  /** The outcome of the last stop. */
  stopped;

  constructor(settings) {
    this.settings = settings;
  }
  #session(runtime) {
    return sessionOf(this.settings.source, runtime);
  }

  // The run

  async beforeAgent({ messages }, runtime) {
    const last = messages.at(-1);
    if (HumanMessage.isInstance(last)) await this.#session(runtime).promises.prompt(last.text);
  }

  /** Shows the model the feedback on calls that have ended. */
  beforeModel(runtime) {
    const blocks = this.#session(runtime).feedback();
    return blocks.length ? { messages: [new HumanMessage(blocks.join("\n\n"))] } : undefined;
  }

  /** Keeps the arguments as the model wrote them; the framework's state has only what could be read or mended. */
  async wrapModelCall(request, handler) {
    const message = await handler(request);
    this.#written.set(this.#session(request.runtime), textsOf(message));
    return message;
  }

  /** Reports what the model used, answers calls that nobody can read, and asks the guard before the agent ends. */
  async afterModel({ messages }, runtime) {
    const [session, message] = [this.#session(runtime), messages.at(-1)];
    if (!AIMessage.isInstance(message)) return undefined;
    const tokens = message.usage_metadata?.total_tokens ?? 0;
    if (tokens) await session.promises.usage("tokens", tokens);
    const isOver = !message.tool_calls?.length;
    if (message.invalid_tool_calls?.length) {
      const answers = [];
      for (const call of message.invalid_tool_calls) answers.push(await unreadable(session, call));
      return { messages: answers, ...(isOver && { jumpTo: "model" }) };
    }
    if (!isOver || !this.settings.stops) return undefined;
    const { finish_reason, stop_reason } = message.response_metadata ?? {};
    this.stopped = await session.promises.stop(finish_reason ?? stop_reason ?? undefined);
    return this.stopped.allowed ? undefined : { messages: [new HumanMessage(this.stopped.message)], jumpTo: "model" };
  }

  // Tools

  async wrapToolCall(request, handler) {
    const { toolCall: call, runtime } = request;
    const session = this.#session(runtime);
    let scope, args;
    try {
      const written = this.#written.get(session)?.get(call.id) ?? JSON.stringify(call.args);
      const real = await validated(request.tool, call.args);
      const exact = this.settings.integers === "bigint" ? exactInput(written, real) : undefined;
      args = exact ?? call.args;
      const given = () => (exact ? { real: written } : judged(written, real));
      const scoped = { call: call.id || undefined, signal: runtime.signal, isExact: exact !== undefined };
      scope = await admitted(session, call.name, given, scoped, this.settings.approve);
    } catch (error) {
      const words = refusal(error, call.id);
      if (words === undefined) throw error;
      return answer(call, words, error instanceof Served ? "success" : "error");
    }
    return this.#ran(scope, call, () => handler({ ...request, toolCall: { ...call, args } }));
  }

  /** Runs the tool and settles its call. The framework answers for some errors of tools itself: those are failures. */
  async #ran(scope, call, handle) {
    const failure = { error: undefined };
    let result;
    try {
      await scope.run(async () => {
        try {
          result = await handle();
        } catch (error) {
          throw (failure.error = error);
        }
        const messages = answersOf(result);
        if (messages.some(({ status }) => status === "error")) throw (failure.error = new Answered());
        return messages.length ? resultOf(messages[0].content) : undefined;
      });
    } catch (error) {
      if (error instanceof Answered) return result;
      if (error !== failure.error || this.settings.throws || isFrameworks(error)) throw error;
      return answer(call, `${error}\n Please fix your mistakes.`, "error"); // What the framework says where there is no middleware.
    }
    return result;
  }
}

/** A tool's error that the framework has turned into an answer already. */
class Answered extends Error {}

/** The framework answers to arguments that its validation refuses, and interrupts runs by errors. */
const isFrameworks = (error) => error?.name === "ToolInvocationError" || error?.is_bubble_up === true;

/** The arguments as the tool gets them; as they are where the framework refuses them. */
async function validated(tool, args) {
  if (!isInteropZodSchema(tool?.schema)) return args;
  const { success, data } = await interopSafeParseAsync(tool.schema, args);
  return success ? data : args;
}

/** The texts of the arguments by call, where the model's provider keeps them. */
function textsOf({ additional_kwargs, tool_call_chunks = [] }) {
  const calls = additional_kwargs?.tool_calls ?? tool_call_chunks;
  const texts = calls.map(({ id, function: called, args }) => [id, called?.arguments ?? args]).filter(([, text]) => text);
  // Two calls with one id leave nobody to say which text is whose.
  return new Map(texts.filter(([id]) => texts.filter(([each]) => each === id).length === 1));
}

/** Calls whose arguments are not JSON, which the framework keeps apart: the guard denies them in its own words. */
async function unreadable(session, call) {
  const denial = await inTurn(session, () => refused(session, { name: call.name ?? "", callId: call.id || undefined, arguments: call.args ?? "" }));
  return answer(call, denial || call.error || "the arguments are not JSON", "error");
}

const answer = ({ id, name }, content, status) => new ToolMessage({ content, name, tool_call_id: id ?? "", status });

function answersOf(result) {
  const update = result?.lg_name === "Command" ? result.update : undefined;
  const messages = update === undefined ? [result] : Array.isArray(update) ? update : update?.messages ?? [];
  return messages.filter((message) => ToolMessage.isInstance(message));
}

/** A result as JSON; the framework has made text of it. */
function resultOf(content) {
  try {
    return typeof content === "string" ? JSON.parse(content) : content;
  } catch {
    return content;
  }
}
