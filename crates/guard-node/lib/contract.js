"use strict";
// Contracts: texts judged whole or as they arrive.

const { answer, made } = require("./engine.js");
const { ArgumentError } = require("./errors.js");
const { jsonText, plainText } = require("./json.js");
const { Report } = require("./outcomes.js");

/** The bytes of a text. */
function bytes(text) {
  if (text instanceof Uint8Array) return Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  if (typeof text !== "string") throw new ArgumentError("a text is a string or a `Uint8Array`");
  return Buffer.from(plainText(text, "the text"));
}

const known = (lists) => (lists === undefined ? undefined : jsonText(lists));

class Contract {
  #engine;

  constructor(engine, name) {
    this.#engine = engine;
    this.name = name;
  }
  check(text, options = {}) {
    return new Report(answer(this.#engine.check(bytes(text), options.finishReason, known(options.known))));
  }
  async checkLater(text, options = {}) {
    return new Report(answer(await this.#engine.checkLater(bytes(text), options.finishReason, known(options.known))));
  }
  feed(options = {}) {
    return new Feed(made(() => this.#engine.feed(known(options.known))));
  }
  schema(options = {}) {
    const { profile = "full" } = options;
    if (profile !== "full" && profile !== "strict") throw new ArgumentError('`profile` is "full" or "strict"');
    return JSON.parse(answer(this.#engine.schema(known(options.known), profile === "strict")));
  }
  prompt(options = {}) {
    return JSON.parse(answer(this.#engine.prompt(known(options.known))));
  }
}

/** A text that arrives in pieces. */
class Feed {
  #engine;
  #half;

  constructor(engine) {
    this.#engine = engine;
    this.#half = "";
  }
  push(text) {
    return JSON.parse(answer(this.#engine.push(this.#bytes(text))));
  }
  finish(options = {}) {
    if (this.#half) throw new ArgumentError("the text ends with half a character");
    return new Report(answer(this.#engine.finish(options.finishReason)));
  }
  /** A piece may end in the middle of a character: its first half waits for the next piece. */
  #bytes(text) {
    if (typeof text !== "string") return bytes(text);
    const whole = this.#half + text;
    const last = whole.charCodeAt(whole.length - 1);
    const split = last >= 0xd800 && last < 0xdc00;
    const piece = bytes(split ? whole.slice(0, -1) : whole);
    this.#half = split ? whole.at(-1) : "";
    return piece;
  }
}

module.exports = { Contract };
