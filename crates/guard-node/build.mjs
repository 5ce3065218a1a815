// Builds the addon and copies it beside the package: `node build.mjs [--release]`.
import { execFileSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";

const here = fileURLToPath(new URL(".", import.meta.url));
const release = process.argv.includes("--release");
const cargo = process.env.CARGO ?? "cargo";
const metadata = execFileSync(cargo, ["metadata", "--format-version", "1", "--no-deps", "--locked"], { cwd: here, maxBuffer: 1 << 26 });
execFileSync(cargo, ["build", "--locked", "--quiet", "-p", "guard-node", ...(release ? ["--release"] : [])], {
  cwd: here,
  stdio: ["inherit", "ignore", "inherit"],
});
const names = { linux: "libguardc_node.so", darwin: "libguardc_node.dylib", win32: "guardc_node.dll" };
const folder = join(JSON.parse(metadata).target_directory, release ? "release" : "debug");
copyFileSync(join(folder, names[process.platform] ?? names.linux), join(here, "guardc.node"));
