"use strict";
// Stores: where sessions and requests for approval are kept.

const { answer, made, native } = require("./engine.js");
const { plainText } = require("./json.js");

class Store {
  #engine;

  constructor(path, { durability = "full", key } = {}) {
    this.path = plainText(path, "the path");
    this.#engine = made(() => native.NodeStore.open(path, String(durability), key));
  }
  static engine(store) {
    return store.#engine;
  }
  has(session) {
    return JSON.parse(answer(this.#engine.contains(plainText(session, "the session's id"))));
  }
  requests(session) {
    return JSON.parse(answer(this.#engine.requests(session)));
  }
  grant(request, { by, role, seconds }) {
    return JSON.parse(answer(this.#engine.grant(plainText(request, "the request's id"), plainText(by, "`by`"), role, seconds)));
  }
  reject(request, { by, reason }) {
    return JSON.parse(answer(this.#engine.reject(plainText(request, "the request's id"), plainText(by, "`by`"), plainText(reason, "`reason`"))));
  }
  revoke(request, { by }) {
    return JSON.parse(answer(this.#engine.revoke(plainText(request, "the request's id"), plainText(by, "`by`"))));
  }
}

/** The engine's part of a store; users have no way to it. */
const engineOf = Store.engine;
delete Store.engine;

module.exports = { Store, engineOf };
