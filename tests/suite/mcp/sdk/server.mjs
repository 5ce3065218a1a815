// The server of the test with the official TypeScript SDK: tools with and without structured results, as in server.py.
// Over standard input and output; with the argument `http` over Streamable HTTP, on a port that it prints.
import { McpServer, acceptedContent, inputRequired } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import { serveHttp } from "./http.mjs";

const text = (text, structuredContent) => ({ content: [{ type: "text", text }], ...(structuredContent && { structuredContent }) });
const title = z.string();
const newTitle = z.object({ title });

function notes() {
  const server = new McpServer({ name: "notes", version: "1.0.0" });
  const tool = (name, description, input, output, run) =>
    server.registerTool(name, { description, inputSchema: z.object(input), ...(output && { outputSchema: z.object(output) }) }, run);

  tool("add", "Adds.", { a: z.int(), b: z.int() }, { result: z.int() }, ({ a, b }) => text(`${a + b}`, { result: a + b }));
  tool("read", "Reads a note.", { title, sort: z.string().default("asc") }, null, ({ title, sort }) => text(`${title}, ${sort}`));
  tool("account", "An account.", { id: z.int() }, { owner: z.string(), token: z.string() }, () => {
    const secret = { owner: "ann", token: "hunter2" };
    return text(JSON.stringify(secret), secret);
  });
  tool("publish", "Publishes a note.", { title }, null, ({ title }) => text(`published ${title}`));
  tool("drop_all", "Deletes everything.", {}, null, () => text("gone"));
  tool("rename", "Renames a note; the client is asked for the new title.", { title }, null, ({ title }, ctx) => {
    const answer = acceptedContent(ctx.mcpReq.inputResponses, "new", newTitle);
    if (answer) return text(`${title} is ${answer.title}`);
    return inputRequired({ inputRequests: { new: inputRequired.elicit({ message: "Which title?", requestedSchema: newTitle }) } });
  });
  return server;
}

if (process.argv.includes("http")) console.log(await serveHttp(notes));
else serveStdio(notes);
