// Servers of the MCP SDK behind a guard.
//
//     const guarded = new Guarded(session);
//     const server = guarded.attach(new McpServer({ name: "orders", version: "1.0.0" }));
//     server.registerTool("refund", { inputSchema }, refund);
//
// The SDK has no middleware, so the guard stands in public members of the server: `registerTool` guards each function inside the
// SDK's validation, `setRequestHandler` and `fallbackRequestHandler` guard the handler of `tools/call` around it. See
// `docs/guide/frameworks.md` for what the protocol keeps out of its reach.
import { isInputRequiredResult } from "@modelcontextprotocol/server";
import { GuardError, Served } from "../lib/index.mjs";
import { admitted, inTurn, jsonOf, judged, refusal, refused, sessionOf } from "./shared.mjs";

export class Guarded {
  #source;
  #approve;
  #callId;
  /** Per context of a request: its call. */
  #calls = new WeakMap();

  /**
   * `session`: the session, or a function from the SDK's context of a request to the session of the client. `approve`: called
   * for each role that a call needs, with the pending call; returns `{ by, expires }`, or nothing. `callId`: a function from
   * the context to the id of the call, where clients send one of their own.
   */
  constructor(session, { approve, callId = () => undefined } = {}) {
    this.#source = session;
    this.#approve = approve;
    this.#callId = callId;
  }

  /** Puts the tools of a server behind the guard: an `McpServer` or a `Server` that has none yet. Returns the server. */
  attach(server) {
    const protocol = server.server ?? server;
    protocol.assertCanSetRequestHandler("tools/call"); // Tools that are there already would have no guard.
    let isRegistering = false; // The SDK sets its own handler while it registers the first tool.
    this.#aroundHandlers(protocol, () => isRegistering);
    if (server === protocol) return server;
    const register = server.registerTool.bind(server);
    server.registerTool = (name, config, callback) => {
      isRegistering = true;
      try {
        return this.#registered(register(name, config, this.#inside(callback)));
      } finally {
        isRegistering = false;
      }
    };
    return server;
  }

  /** Guards the handlers of `tools/call`. The SDK's own gets to functions that are guarded inside of it. */
  #aroundHandlers(protocol, isSdks) {
    const set = protocol.setRequestHandler.bind(protocol);
    protocol.setRequestHandler = (method, ...given) => {
      if (typeof method !== "string") throw new GuardError("the guard stands in servers of `@modelcontextprotocol/server`, not in those of version 1 of the SDK");
      if (method !== "tools/call") return set(method, ...given);
      if (given.length > 1) throw new GuardError("the handler of `tools/call` has schemas of its own, which change arguments before the guard sees them");
      return set(method, this.#around(given[0], isSdks()));
    };
    let fallback = protocol.fallbackRequestHandler;
    const guarded = (request, ctx) => (request.method === "tools/call" ? this.#around(fallback, false) : fallback)(request, ctx);
    Object.defineProperty(protocol, "fallbackRequestHandler", { get: () => fallback && guarded, set: (handler) => (fallback = handler) });
  }

  /** A registered tool, whose function stays guarded where it is replaced. What the SDK runs is replaced by an update only. */
  #registered(tool) {
    const { update } = tool;
    let { executor } = tool;
    let isUpdating = false;
    const set = (made) => {
      if (!isUpdating) throw new GuardError("no guard would stand around the executor of a tool: replace its function with `update`");
      executor = made;
    };
    Object.defineProperty(tool, "executor", { get: () => executor, set, enumerable: true, configurable: false });
    tool.update = (updates) => {
      isUpdating = true;
      try {
        return update(updates.callback ? { ...updates, callback: this.#inside(updates.callback) } : updates);
      } finally {
        isUpdating = false;
      }
    };
    return tool;
  }

  /** The function behind the guard of its request. Without a schema it gets the context alone. */
  #inside(callback) {
    return async (...given) => {
      const [ctx, args = {}] = given.toReversed();
      const call = this.#calls.get(ctx);
      if (call === undefined || call.isJudged) throw new GuardError("the function is guarded, and was called outside of its server");
      return this.#guarded(call, () => judged(call.written, args), false, () => callback(...given));
    };
  }

  /** The guard around a handler. The SDK makes an answer of every error of a tool: what the guard says replaces it. */
  #around(handler, isInside) {
    return async (request, ctx) => {
      const { name, arguments: args = {} } = request.params;
      const { signal } = ctx.mcpReq;
      const session = sessionOf(this.#source, ctx);
      const call = { session, name, written: jsonOf(args), id: this.#callId(ctx), signal, isJudged: false, end: undefined };
      this.#calls.set(ctx, call);
      const run = () => handler(request, ctx);
      let end;
      try {
        end = { result: await (isInside ? run() : this.#guarded(call, () => ({ real: call.written }), true, run)) };
      } catch (error) {
        end = { error };
      }
      if (!call.isJudged) {
        // The SDK answers what it refuses with an error. Anything else is the word of a function that no guard stood around.
        if (isInside && "result" in end && !end.result?.isError) end = { error: new GuardError(`another function than the guarded one is registered as \`${name}\``) };
        await this.#unread(call);
      }
      end = call.end ?? end;
      if ("error" in end) throw end.error;
      // An answer that nobody reads leaves the feedback for the next one.
      return signal.aborted || isInputRequiredResult(end.result) ? end.result : withFeedback(end.result, session.feedback());
    };
  }

  /** Runs a call behind the guard. A result that says that the tool failed, or is not done yet, settles it as failed. */
  async #guarded(call, args, isExact, run) {
    call.isJudged = true;
    let result, failed;
    try {
      const scope = await admitted(call.session, call.name, args, { call: call.id, signal: call.signal, isExact }, this.#approve);
      await scope.run(async () => {
        try {
          result = await run();
        } catch (error) {
          failed = { error };
          throw error;
        }
        if (result?.isError || isInputRequiredResult(result)) throw new Unfinished();
        return valueOf(result);
      });
    } catch (error) {
      if (error instanceof Unfinished) return result;
      if (failed?.error !== error) call.end = endOf(error, call.id);
      throw error;
    }
    return result;
  }

  /** Puts a call to the guard that the SDK answered itself: an unknown tool, bad arguments. Nothing of it has run. */
  async #unread(call) {
    call.isJudged = true;
    try {
      const words = await inTurn(call.session, () => refused(call.session, { name: call.name, callId: call.id, arguments: call.written }));
      if (words) call.end = { result: said(words, true) };
    } catch (error) {
      call.end = endOf(error, call.id);
    }
  }
}

/** The tool gave a result that is none. */
class Unfinished extends Error {}

const text = (words) => ({ type: "text", text: words });
const said = (words, isError) => ({ content: [text(words)], isError });

/** How a call ends that the guard did not run, or could not settle. An error of the guard is one of the protocol. */
function endOf(error, id) {
  const words = refusal(error, id);
  return words === undefined ? { error } : { result: said(words, !(error instanceof Served)) };
}

/** A result as JSON: the structured content, the JSON in the only text, or the texts. */
function valueOf({ structuredContent, content = [] } = {}) {
  if (structuredContent !== undefined) return structuredContent;
  const texts = content.filter(({ type }) => type === "text").map((part) => part.text);
  try {
    return content.length === 1 && texts.length === 1 ? JSON.parse(texts[0]) : texts.join("\n");
  } catch {
    return texts[0];
  }
}

const withFeedback = (result, blocks) => (blocks.length ? { ...result, content: [...(result?.content ?? []), ...blocks.map(text)] } : result);
