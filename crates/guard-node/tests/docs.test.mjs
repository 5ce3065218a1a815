// The pages about Node print what they show.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

const HERE = fileURLToPath(new URL("..", import.meta.url));

/** Runs the blocks of a page as one program; a text block after one is what it prints. */
function play(page) {
  const text = readFileSync(new URL(`../../../${page}`, import.meta.url), "utf8");
  const blocks = [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, kind, body]) => ({ kind, body }));
  const programs = blocks.filter(({ kind }) => kind === "js").map(({ body }) => body);
  const expected = blocks.map(({ kind, body }, at) => (kind === "text" && blocks[at - 1]?.kind === "js" ? body : "")).join("");
  const printed = execFileSync(process.execPath, ["--input-type=module", "-"], { cwd: HERE, input: programs.join("\n"), encoding: "utf8" });
  assert.equal(printed, expected);
  return programs.length;
}

test("the guide prints what it shows", () => assert.equal(play("docs/guide/node.md"), 8));
test("the package page prints what it shows", () => assert.equal(play("crates/guard-node/README.md"), 1));

for (const example of ["refunds", "refunds_ai_sdk", "refunds_langchain"]) {
  test(`the example \`${example}\` prints what the guide shows`, () => {
    const printed = execFileSync(process.execPath, [`examples/${example}.mjs`], { cwd: HERE, encoding: "utf8" });
    assert.ok(readFileSync(new URL("../../../docs/guide/node.md", import.meta.url), "utf8").includes(`\`\`\`text\n${printed}\`\`\``), printed);
  });
}
