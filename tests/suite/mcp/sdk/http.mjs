// A server of the TypeScript SDK over Streamable HTTP in both protocol eras. Those with a handshake have a session for each client.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import {
  NodeStreamableHTTPServerTransport,
  localhostHostValidation,
  localhostOriginValidation,
  toNodeHandler,
  toWebRequest,
} from "@modelcontextprotocol/node";
import { createMcpHandler, isInitializeRequest, isLegacyRequest } from "@modelcontextprotocol/server";

/**
 * Listens on a free port of this machine, and gives its number. `make` makes a server for one client or request; it also gets what
 * tells clients of the era without sessions that a list changed. `options` are those of a session's transport.
 */
export async function serveHttp(make, options = {}) {
  const sessions = new Map();
  const handler = createMcpHandler(() => make(handler.notify), { legacy: "reject" });
  const modern = toNodeHandler(handler);
  const checks = [localhostHostValidation(), localhostOriginValidation()];

  async function legacy(req, res, body) {
    const id = req.headers["mcp-session-id"];
    if (id !== undefined && !sessions.has(id)) return res.writeHead(404).end();
    let transport = sessions.get(id);
    if (!transport) {
      if (!isInitializeRequest(body)) return res.writeHead(400).end();
      transport = new NodeStreamableHTTPServerTransport({
        ...options,
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => sessions.set(id, transport),
        onsessionclosed: (id) => sessions.delete(id),
      });
      await make().connect(transport);
    }
    await transport.handleRequest(req, res, body);
  }

  async function handle(req, res) {
    if (!checks.every((passes) => passes(req, res))) return;
    const chunks = await req.toArray();
    let body;
    try {
      body = chunks.length ? JSON.parse(Buffer.concat(chunks)) : undefined;
    } catch {
      return res.writeHead(400).end();
    }
    await ((await isLegacyRequest(await toWebRequest(req, body))) ? legacy(req, res, body) : modern(req, res, body));
  }

  const server = createServer((req, res) =>
    handle(req, res).catch((error) => {
      console.error(error);
      if (!res.headersSent) res.writeHead(500);
      res.end();
    }),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  return server.address().port;
}
