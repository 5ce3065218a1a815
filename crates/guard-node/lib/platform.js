"use strict";
// The parts that are built for a platform: beside this package where they were built here, else in the package of the platform.

const { existsSync } = require("node:fs");
const { join } = require("node:path");

/** The name of this platform, as its package has it. */
const platform = `${process.platform}-${process.arch}${process.platform === "linux" ? "-gnu" : ""}`;

/** The path of a part, `guardc.node` or the command `guardc`. */
function part(name) {
  const own = join(__dirname, "..", name);
  if (existsSync(own)) return own;
  try {
    return require.resolve(`guardc-${platform}/${name}`);
  } catch {
    throw new Error(
      `guardc: the package guardc-${platform} is not there. Either there is none for this platform, or the installation left out optional dependencies.`,
    );
  }
}

/** The file name of the command. */
const command = process.platform === "win32" ? "guardc.exe" : "guardc";

module.exports = { command, part, platform };
