import type { AgentMiddleware } from "langchain";
import type { Session, Stopped } from "../lib/index.mjs";
import type { Approve } from "./shared.mjs";

export type { Approval } from "./shared.mjs";

export interface GuardOptions {
  /** Called for each role that a call needs. Without it, or without an answer, the model is told that an approval is needed. */
  approve?: Approve;
  /** Ask the guard before the agent ends; a blocked stop goes on with the guard's message. True where it is left out. */
  stops?: boolean;
  /** `bigint`: tools get integers that a number cannot hold as BigInts, instead of other integers. */
  integers?: "number" | "bigint";
  /** Hand the errors of tools to the middleware in front, which may try again, instead of telling them the model. */
  throws?: boolean;
}

/** A middleware that puts the tools of an agent behind a guard. */
export interface GuardMiddleware extends AgentMiddleware<undefined, undefined, unknown, readonly []> {
  /** The outcome of the last stop. */
  readonly stopped?: Stopped;
}

/**
 * Puts the tools of an agent behind a guard: the last entry of its `middleware`. `session`: the session, or a function from
 * the framework's runtime to the session of the run, found by `runtime.configurable` for example.
 */
export function guardMiddleware(session: Session | ((runtime: any) => Session), options?: GuardOptions): GuardMiddleware;
