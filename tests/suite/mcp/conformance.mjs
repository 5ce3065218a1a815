// The official MCP conformance suite, which judges the server sdk/everything.mjs and the client sdk/judged.mjs without and with
// `guardc mcp-proxy` between it and them: every check must have the same result, and every scenario that a revision requires must
// pass. What the two do not offer is left out: tasks, and authorization by the client.
//
// Usage: conformance.mjs GUARDC, after `npm ci` in `sdk`.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [guardc] = process.argv.slice(2);
const sdk = join(import.meta.dirname, "sdk");
const suite = join(sdk, "node_modules/@modelcontextprotocol/conformance");
const REVISIONS = ["2025-11-25", "2026-07-28"];
const folder = () => mkdtempSync(join(tmpdir(), "guard-"));

const started = [];
function start(command, args, stdio) {
  const child = spawn(command, args, { stdio });
  started.push(child);
  return child;
}

/** The first line of a stream; what follows is dropped. */
async function line(stream) {
  const [line] = await once(createInterface(stream), "line");
  return line;
}

/** Runs the suite; what it reports is in a folder. */
async function run(...args) {
  const results = folder();
  await once(
    start(
      process.execPath,
      ["--import", join(sdk, "node20.mjs"), join(suite, "dist/index.js"), ...args, "--output-dir", results],
      ["ignore", "ignore", "ignore"],
    ),
    "exit",
  );
  return Object.fromEntries(
    readdirSync(results).map((name) => [scenarioOf(name), JSON.parse(readFileSync(join(results, name, "checks.json")))]),
  );
}

/** `server-tools-list-2026-07-28T…` is of `tools-list`. */
const scenarioOf = (folder) => folder.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, "");

/** The checks of each scenario of a revision, as the suite reports them about a server. */
const judgedServer = (revision, url) => run("server", "--url", url, "--requirements", revision);

/** And about a client, which goes through the proxy if the command to start it is given. */
async function judgedClient(revision, names, ...proxy) {
  const command = [process.execPath, join(sdk, "judged.mjs"), ...proxy].join(" ");
  const checks = {};
  for (const name of names)
    Object.assign(checks, await run("client", "--command", command, "--scenario", name, "--spec-version", revision));
  return checks;
}

/** Checks of how soon a client is back: that says more of the machine. */
const TIMED = ["client-sse-retry-timing"];

/** A check's name and result; those that only note are none. */
const outcomes = (checks) =>
  checks
    .filter(({ id, status }) => status !== "INFO" && !TIMED.includes(id))
    .map(({ id, status, errorMessage = "" }) => `${status} ${id} ${errorMessage}`.trim());

function summary(checks) {
  const of = (...statuses) => checks.filter(({ status }) => statuses.includes(status)).length;
  return `${of("SUCCESS")} passed, ${of("FAILURE")} failed`;
}

/** The scenarios that a server or a client must pass. */
const required = (revision, side) =>
  readFileSync(join(suite, "requirements", `${revision}.yaml`), "utf8")
    .match(new RegExp(`^${side}:\n((?: .*\n|#.*\n|\n)+)`, "m"))[1]
    .match(/(?<=^ +- )\S+/gm)
    .filter((name) => !name.startsWith("auth/"));

/** Prints the results of one side; returns how many scenarios differ or fail. */
function compared(title, names, without, through) {
  assert(names.length && names.every((name) => without[name]), "the suite reports each scenario that the revision requires");
  console.log(`\n| ${title} | without | through the proxy |\n| --- | --- | --- |`);
  let differ = 0;
  for (const name of new Set([...Object.keys(without), ...Object.keys(through)])) {
    if (name.startsWith("tasks-")) continue;
    const [left, right] = [without[name] ?? [], through[name] ?? []];
    console.log(`| ${name} | ${summary(left)} | ${summary(right)} |`);
    const [before, after] = [outcomes(left), outcomes(right)];
    const failed = names.includes(name) && before.some((each) => each.startsWith("FAILURE"));
    if (!failed && before.join("\n") === after.join("\n")) continue;
    differ += 1;
    for (const each of before.filter((each) => failed || !after.includes(each))) console.log(`    without: ${each}`);
    for (const each of after.filter((each) => failed || !before.includes(each))) console.log(`    through: ${each}`);
  }
  return differ;
}

async function main() {
  const server = start(process.execPath, [join(sdk, "everything.mjs")], ["ignore", "pipe", "inherit"]);
  const direct = `http://127.0.0.1:${Number(await line(server.stdout))}/mcp`;
  const plan = join(sdk, "everything.guard");
  const proxy = start(
    guardc,
    ["mcp-proxy", "--plan", plan, "--store", folder(), "--upstream", direct, "--listen", "127.0.0.1:0"],
    ["ignore", "inherit", "pipe"],
  );
  let note;
  const notes = createInterface(proxy.stderr);
  do [note] = await once(notes, "line");
  while (!note.includes("listening on"));

  let differ = 0;
  for (const revision of REVISIONS) {
    const through = await judgedServer(revision, note.split(" ").at(-1));
    differ += compared(`servers, ${revision}`, required(revision, "server"), await judgedServer(revision, direct), through);
    const names = required(revision, "client");
    differ += compared(`clients, ${revision}`, names, await judgedClient(revision, names), await judgedClient(revision, names, guardc));
  }
  console.log(differ ? `\n${differ} scenarios differ or fail` : "\nall scenarios: the same through the proxy");
  process.exitCode = differ ? 1 : 0;
}

await main().finally(() => started.forEach((child) => child.kill()));
