// The same objects for `import`, so that an error of one kind of module is an error of the other.
import guardc from "./index.js";

export const {
  ApprovalNeeded, ArgumentError, Broken, CallScope, Closed, Contract, ContractError, Denied, Guard, GuardError, Incomplete,
  PendingApproval, Report, Served, Session, SessionError, Settled, SourceError, Stopped, Store, Verdict, WaitTimeout, version,
} = guardc;
