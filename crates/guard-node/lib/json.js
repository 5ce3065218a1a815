"use strict";
// Values of JavaScript as JSON text. What is not JSON is refused with its path, never dropped, rounded or repaired.

const { randomUUID } = require("node:crypto");
const { ArgumentError } = require("./errors.js");

/** The levels of a value that Guard reads. */
const MAX_DEPTH = 128;

let way = [];

function refuse(why) {
  const path = way.map((step) => `[${JSON.stringify(step)}]`).join("");
  throw new ArgumentError(`the value${path} ${why}`);
}

function string(value) {
  if (!value.isWellFormed()) refuse("has a lone surrogate, which is not Unicode text");
  return JSON.stringify(value);
}

function write(value) {
  switch (typeof value) {
    case "string":
      return string(value);
    case "number":
      if (!Number.isFinite(value)) refuse(`is ${value}, which is not JSON`);
      return String(value);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value === null) return "null";
      if (way.length >= MAX_DEPTH) {
        throw new ArgumentError(`the value has more than ${MAX_DEPTH} levels, or contains itself`);
      }
      return Array.isArray(value) ? array(value) : object(value);
    case "bigint":
      return refuse("is a BigInt, which is not JSON: write it as text");
    default:
      return refuse(`is of type \`${typeof value}\`, which is not JSON`);
  }
}

function array(items) {
  let text = "[";
  for (let index = 0; index < items.length; index++) {
    way.push(index);
    text += (index ? "," : "") + write(items[index]);
    way.pop();
  }
  return text + "]";
}

function isPlain(value) {
  const above = Object.getPrototypeOf(value);
  return above === null || above === Object.prototype || (Object.getPrototypeOf(above) === null && Object.hasOwn(above, "isPrototypeOf"));
}

function object(members) {
  if (!isPlain(members)) {
    const name = Object.getPrototypeOf(members)?.constructor?.name;
    refuse(`is of class \`${typeof name === "string" ? name : "?"}\`, which is not JSON`);
  }
  let text = "{";
  for (const key of Object.keys(members)) {
    way.push(key);
    text += (text.length > 1 ? "," : "") + string(key) + ":" + write(members[key]);
    way.pop();
  }
  return text + "}";
}

/** The JSON text of a value. Throws `ArgumentError` where it is not JSON. */
function jsonText(value) {
  const outer = way;
  way = [];
  try {
    return write(value);
  } finally {
    way = outer; // A getter of the value may have asked for a text of its own.
  }
}

/** A text without lone surrogates, which would be replaced on the way to the engine. */
function plainText(value, what) {
  if (typeof value !== "string") throw new ArgumentError(`${what} is a string, not ${value === null ? "null" : typeof value}`);
  if (!value.isWellFormed()) throw new ArgumentError(`${what} has a lone surrogate, which is not Unicode text`);
  return value;
}

/** Arguments as a caller gives them: text is taken as the model wrote it, nothing is an empty object. */
function argsText(args) {
  if (typeof args === "string") return plainText(args, "the text of the arguments");
  return args === undefined ? "{}" : jsonText(args);
}

const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

function isInexact(token) {
  return /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token)) && BigInt(Number(token)) !== BigInt(token);
}

/** JSON text as a value in which integers that a number cannot hold are BigInts. Throws `SyntaxError`. */
function parseExact(text) {
  const value = JSON.parse(text);
  const tokens = text.match(TOKENS) ?? [];
  if (!tokens.some(isInexact)) return value;
  const mark = randomUUID();
  const marked = text.replace(TOKENS, (token) => (isInexact(token) ? `"${mark}${token}"` : token));
  const unmark = (_, found) => (typeof found === "string" && found.startsWith(mark) ? BigInt(found.slice(mark.length)) : found);
  return JSON.parse(marked, unmark);
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

/** A time in milliseconds since 1970: such a number, a `Date`, or RFC 3339 text. */
function millis(time) {
  let found = NaN;
  if (typeof time === "number") found = time;
  else if (time instanceof Date) found = time.getTime();
  else if (typeof time === "string" && INSTANT.test(time)) found = Date.parse(time);
  if (Number.isFinite(found) && Math.abs(found) <= 8.64e15) return Math.round(found);
  throw new ArgumentError("a time is a number of milliseconds, a `Date`, or RFC 3339 text");
}

module.exports = { argsText, isPlain, jsonText, millis, parseExact, plainText };
