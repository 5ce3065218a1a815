import type { McpServer, Server, ServerContext } from "@modelcontextprotocol/server";
import type { Session } from "../lib/index.mjs";
import type { Approve } from "./shared.mjs";

export type { Approval } from "./shared.mjs";

export interface GuardedOptions {
  /** Called for each role that a call needs. Without it, or without an answer, the client is told that an approval is needed. */
  approve?: Approve;
  /** The id of a call, where clients send one of their own; otherwise the guard makes one. */
  callId?: (ctx: ServerContext) => string | undefined;
}

/** Puts the tools of servers behind a guard. */
export class Guarded {
  /** `session`: the session, or a function from the SDK's context of a request to the session of the client. */
  constructor(session: Session | ((ctx: ServerContext) => Session), options?: GuardedOptions);
  /**
   * Guards a server that has no tools yet, and returns it. The functions of an `McpServer` are judged as they are called; the
   * handler of a `Server` is judged by the arguments as the client wrote them.
   */
  attach<Guardable extends McpServer | Server>(server: Guardable): Guardable;
}
