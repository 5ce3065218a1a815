"use strict";
// The errors of Guard. All derive from `GuardError`; after one the call must not run.

class GuardError extends Error {
  constructor(message, options) {
    super(message, options);
    this.code = options?.code ?? new.target.code;
  }
  get name() {
    return this.constructor.name;
  }
  static code = "failed";
}

class SourceError extends GuardError {
  static code = "bad_source";
}

class ArgumentError extends GuardError {
  static code = "invalid_arguments";
}

class SessionError extends GuardError {
  constructor(message, options) {
    super(message, options);
    this.seq = options?.seq;
  }
}

class Closed extends SessionError {
  static code = "session_closed";
}

class Broken extends SessionError {
  static code = "engine_failed";
}

class ContractError extends GuardError {
  static code = "bad_contract";
}

class Denied extends GuardError {
  static code = "denied";
  constructor(verdict) {
    super([verdict.message, verdict.rendered].filter((part) => part).join("\n\n") || verdict.decision);
    this.verdict = verdict;
  }
}

class ApprovalNeeded extends Denied {
  static code = "approval_needed";
  constructor(verdict, pending) {
    super(verdict);
    this.pending = pending;
  }
}

class WaitTimeout extends Denied {
  static code = "wait_timeout";
}

class Served extends GuardError {
  static code = "served";
  constructor(verdict) {
    super(`\`${verdict.tool}\` is served by the guard: \`verdict.served\` is its result`);
    this.verdict = verdict;
  }
}

class Incomplete extends GuardError {
  static code = "incomplete";
  constructor(stopped) {
    super(stopped.message);
    this.stopped = stopped;
  }
}

module.exports = {
  ApprovalNeeded, ArgumentError, Broken, Closed, ContractError, Denied, GuardError, Incomplete, Served, SessionError, SourceError,
  WaitTimeout,
};
