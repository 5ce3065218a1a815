// Packs what is published: the package `guardc`, and the package of this platform with the addon and the command.
//
//     node pack.mjs [--release] FOLDER
//
// The first names the second, and those of the other platforms, among its optional dependencies.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join, resolve } from "node:path";
import platforms from "./lib/platform.js";

const PLATFORMS = ["darwin-arm64", "darwin-x64", "linux-arm64-gnu", "linux-x64-gnu", "win32-x64"];

const here = fileURLToPath(new URL(".", import.meta.url));
const release = process.argv.includes("--release") ? ["--release"] : [];
const out = resolve(process.argv.findLast((argument) => !argument.startsWith("--")));
const { private: _private, scripts, devDependencies, ...source } = JSON.parse(readFileSync(join(here, "package.json")));

function built() {
  const cargo = process.env.CARGO ?? "cargo";
  execFileSync("node", ["build.mjs", ...release], { cwd: here, stdio: "inherit" });
  execFileSync(cargo, ["build", "--locked", "--quiet", "--package", "guardc-cli", ...release], {
    cwd: join(here, "../.."),
    stdio: ["inherit", "ignore", "inherit"],
  });
  const metadata = execFileSync(cargo, ["metadata", "--format-version", "1", "--no-deps", "--locked"], { cwd: here, maxBuffer: 1 << 26 });
  return join(JSON.parse(metadata).target_directory, release.length ? "release" : "debug", platforms.command);
}

/** Writes a package into a folder of its own and packs it. */
function pack(name, manifest, fill) {
  const folder = join(out, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), `${JSON.stringify({ name, version: source.version, ...manifest }, null, 2)}\n`);
  for (const license of ["LICENSE-APACHE", "LICENSE-MIT"]) copyFileSync(join(here, "../..", license), join(folder, license));
  fill(folder);
  execFileSync("npm", ["pack", "--silent", "--pack-destination", out, folder], { stdio: ["ignore", "ignore", "inherit"] });
}

const command = built();
const [os, cpu, libc] = platforms.platform.split("-");
const shared = { license: source.license, description: `The parts of guardc for ${platforms.platform}`, os: [os], cpu: [cpu], ...(libc && { libc: ["glibc"] }) };
pack(`guardc-${platforms.platform}`, { ...shared, files: ["guardc.node", platforms.command] }, (folder) => {
  copyFileSync(join(here, "guardc.node"), join(folder, "guardc.node"));
  copyFileSync(command, join(folder, platforms.command));
  chmodSync(join(folder, platforms.command), 0o755);
});
const optionalDependencies = Object.fromEntries(PLATFORMS.map((platform) => [`guardc-${platform}`, source.version]));
pack("guardc", { ...source, optionalDependencies, files: source.files.filter((file) => file !== "guardc.node") }, (folder) => {
  for (const name of ["README.md", "bin", "lib", "integrations", "examples"]) cpSync(join(here, name), join(folder, name), { recursive: true });
});
