"use strict";
// A call that waits for a person, as a value: write it as JSON, propose it again in another process.

const { ArgumentError } = require("./errors.js");

const MEMBERS = { session: "string", call: "string", tool: "string", argsText: "string", message: "string" };

class PendingApproval {
  constructor({ session, call, tool, argsText, roles, message, request = null }) {
    Object.assign(this, { session, call, tool, argsText, roles: Object.freeze([...roles]), message, request });
    Object.freeze(this);
  }

  static ofVerdict(session, verdict) {
    const roles = verdict.reasons.filter(({ code }) => code === "approval" || code === "gated").flatMap(({ needs }) => needs);
    const { call, tool, argsText, message, request } = verdict;
    return new PendingApproval({ session, call, tool, argsText, roles: [...new Set(roles)].sort(), message, request });
  }

  /** The value that `JSON.stringify` wrote, from its text or from the object in it. */
  static from(saved) {
    const members = typeof saved === "string" ? JSON.parse(saved) : saved;
    const wrong = Object.entries(MEMBERS).find(([name, type]) => typeof members?.[name] !== type);
    if (wrong || !Array.isArray(members.roles)) throw new ArgumentError(`a pending approval has a ${wrong ? `text \`${wrong[0]}\`` : "list `roles`"}`);
    return new PendingApproval(members);
  }

  get args() {
    return JSON.parse(this.argsText);
  }
  toJSON() {
    return { ...this };
  }
}

module.exports = { PendingApproval };
