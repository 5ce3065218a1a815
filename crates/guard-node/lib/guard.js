"use strict";
// Guards: compiled once, shared by sessions.

const { randomBytes } = require("node:crypto");
const { fileURLToPath } = require("node:url");
const { Contract } = require("./contract.js");
const { answer, made, native } = require("./engine.js");
const { ArgumentError } = require("./errors.js");
const { plainText } = require("./json.js");
const { Session } = require("./session.js");

const pathText = (path) => plainText(path instanceof URL ? fileURLToPath(path) : path, "a path");

class Guard {
  #engine;

  constructor(engine) {
    if (!(engine instanceof native.NodeGuard)) throw new ArgumentError("make a guard with `Guard.load`, `Guard.compile` or `Guard.fromPlan`");
    this.#engine = engine;
    const { tools, contracts, probes } = JSON.parse(answer(engine.declared()));
    Object.assign(this, { name: engine.name, planHash: engine.planHash, tools, contracts, probes });
    Object.freeze(this);
  }
  static load(path) {
    const from = pathText(path);
    return new Guard(made(() => native.NodeGuard.load(from)));
  }
  static compile(text, { path = "guard.guard" } = {}) {
    const [from, source] = [pathText(path), plainText(text, "the text of a guard")];
    return new Guard(made(() => native.NodeGuard.compile(from, source)));
  }
  static fromPlan(plan) {
    if (!(plan instanceof Uint8Array)) throw new ArgumentError("a plan is a `Uint8Array`");
    return new Guard(made(() => native.NodeGuard.fromPlan(Buffer.from(plan))));
  }
  planBytes() {
    return this.#engine.planBytes();
  }
  guide() {
    return this.#engine.guide();
  }
  contract(name) {
    return new Contract(made(() => this.#engine.contract(plainText(name, "a name"))), name);
  }
  session(id = randomBytes(8).toString("hex"), options = {}) {
    return new Session(this, this.#engine, plainText(id, "the session's id"), options);
  }
}

module.exports = { Guard };
