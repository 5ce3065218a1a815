import type { Agent, AgentInputItem, Handoff, handoff, NonStreamRunOptions, RunResult, RunState, RunStreamEvent, Runner, StreamRunOptions, StreamedRunResult, tool } from "@openai/agents";
import type { Session, Stopped } from "../lib/index.mjs";
import type { Approve } from "./shared.mjs";

export type { Approval } from "./shared.mjs";

export interface GuardedOptions {
  /** Called for each role that a call needs. Without it, or without an answer, the model is told that an approval is needed. */
  approve?: Approve;
  /** Ask the guard before the agent ends; a blocked stop goes on with the guard's message. True where it is left out. */
  stops?: boolean;
  /** The runner of the framework, with its own configuration. */
  runner?: Runner;
  /** `bigint`: tools get integers that a number cannot hold as BigInts, instead of other integers. */
  integers?: "number" | "bigint";
}

/** Puts the tools of an agent behind a guard. */
export class Guarded {
  /** `session`: the session, or a function from the run's context to the session. */
  constructor(session: Session | ((context: any) => Session), options?: GuardedOptions);
  /** The outcome of the last stop. */
  readonly stopped?: Stopped;
  /** A tool of the framework behind the guard: takes what the framework's own `tool` takes. */
  readonly tool: typeof tool;
  /** A handoff of the framework: takes what its own `handoff` takes, except for `onHandoff` and `inputType`. */
  handoff<Target extends Agent<any, any>>(
    agent: Target,
    options?: Omit<NonNullable<Parameters<typeof handoff>[1]>, "onHandoff" | "inputType">,
  ): Handoff<any, any>;
  /** Runs an agent as `run` of the framework does. */
  run<Run extends Agent<any, any>, Context = undefined>(
    agent: Run,
    input: string | AgentInputItem[] | RunState<Context, Run>,
    options?: NonStreamRunOptions<Context, Run>,
  ): Promise<RunResult<Context, Run>>;
  /** Runs an agent and yields the framework's events; returns its result. */
  stream<Run extends Agent<any, any>, Context = undefined>(
    agent: Run,
    input: string | AgentInputItem[] | RunState<Context, Run>,
    options?: Omit<StreamRunOptions<Context, Run>, "stream">,
  ): AsyncGenerator<RunStreamEvent, StreamedRunResult<Context, Run>>;
}
