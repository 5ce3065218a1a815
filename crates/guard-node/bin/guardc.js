#!/usr/bin/env node
"use strict";
// The command `guardc`: starts the program for this platform, hands signals on, and ends as it ends.

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { command, part } = require("../lib/platform.js");

let child;
try {
  child = spawn(part(command), process.argv.slice(2), { stdio: "inherit" });
} catch (error) {
  console.error(error.message);
  process.exit(2);
}
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`guardc: ${error.message}`);
  process.exit(2);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
