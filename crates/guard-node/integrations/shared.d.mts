import type { PendingApproval, Time } from "../lib/index.mjs";

/** A person's answer to a pending approval: who approves, and until when; an hour where it is left out. */
export interface Approval {
  by: string;
  expires?: Time;
}

/** Asks the people of a role. */
export type Approve = (pending: PendingApproval, role: string) => Approval | undefined | Promise<Approval | undefined>;
