"use strict";
// The addon, and its answers: `=` and the answer, or `!` and the failure as JSON. Whatever is neither is a failure.

const errors = require("./errors.js");
const { part } = require("./platform.js");

const native = require(part("guardc.node"));

/** The error that a failure of the addon becomes. */
function failure(text) {
  try {
    const { class: name, code, message, seq } = JSON.parse(text.slice(1));
    if (Object.hasOwn(errors, name)) return new errors[name](message, { code, seq });
  } catch {
    // A text that is no failure means that the engine itself broke.
  }
  return new errors.Broken(`the engine gave no answer: ${text}`);
}

/** The answer in a reply, or the error that it is. */
function answer(reply) {
  if (typeof reply === "string" && reply.charCodeAt(0) === 61) return reply.slice(1);
  throw failure(String(reply));
}

/** Asks the addon for something other than a reply; its errors become ours. */
function made(make) {
  try {
    return make();
  } catch (error) {
    throw failure(String(error?.message ?? error));
  }
}

module.exports = { answer, made, native };
