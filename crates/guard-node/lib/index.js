"use strict";
// Guard for Node: decide every tool call of an agent before it runs.

const errors = require("./errors.js");
const { CallScope } = require("./calls.js");
const { Contract } = require("./contract.js");
const { native } = require("./engine.js");
const { Guard } = require("./guard.js");
const { Report, Settled, Stopped, Verdict } = require("./outcomes.js");
const { PendingApproval } = require("./pending.js");
const { Session } = require("./session.js");
const { Store } = require("./store.js");

module.exports = { ...errors, CallScope, Contract, Guard, PendingApproval, Report, Session, Settled, Stopped, Store, Verdict, version: native.version() };
