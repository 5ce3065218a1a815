import type { ToolLoopAgent, ToolLoopAgentSettings, ToolSet, generateText, streamText } from "ai";
import type { Session, Stopped } from "../lib/index.mjs";
import type { Approve } from "./shared.mjs";

export type { Approval } from "./shared.mjs";

export interface GuardedOptions {
  /** Called for each role that a call needs. Without it, or without an answer, the model is told that an approval is needed. */
  approve?: Approve;
  /** Ask the guard before the agent ends; a blocked stop goes on with the guard's message. True where it is left out. */
  stops?: boolean;
  /** `bigint`: tools get integers that a number cannot hold as BigInts, instead of other integers. */
  integers?: "number" | "bigint";
}

/** Puts the tools of the framework behind a guard. */
export class Guarded {
  /** `session`: the session, or a function from the framework's `runtimeContext` to the session. */
  constructor(session: Session | ((context: any) => Session), options?: GuardedOptions);
  /** The outcome of the last stop. */
  readonly stopped?: Stopped;
  /** Generates as `generateText` of the framework does. Throws `Incomplete` where the run ends though the guard blocked its stop. */
  readonly generateText: typeof generateText;
  /** Streams as `streamText` of the framework does, once the guard has heard the prompt. */
  streamText<Tools extends ToolSet>(options: Parameters<typeof streamText<Tools>>[0]): Promise<ReturnType<typeof streamText<Tools>>>;
  /** An agent of the framework behind the guard: takes what its `ToolLoopAgent` takes. */
  agent<Tools extends ToolSet>(settings: ToolLoopAgentSettings<never, Tools>): Pick<ToolLoopAgent<never, Tools>, "version" | "id" | "tools" | "generate" | "stream">;
}
