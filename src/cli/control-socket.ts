import { once } from "node:events";
import { chmodSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { BreezewayError } from "../model/errors.ts";

/** How a command and the running service talk: one line of JSON each way, over a socket only the owner can open. */
export type HandleCommand = (command: string, input: unknown) => Promise<object>;

export interface ControlServer {
  stop(): Promise<void>;
}

/** The service is not listening there. */
export class NobodyListens extends Error {}

interface Reply {
  readonly result?: object;
  readonly error?: { readonly code: string; readonly message: string };
}

export async function serveControl(path: string, handle: HandleCommand): Promise<ControlServer> {
  // Whoever holds the folder's lock is the only service: a socket that is there was left by one that was killed.
  if (process.platform !== "win32") rmSync(path, { force: true });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    createInterface({ input: socket }).once("line", async (line) => {
      socket.end(`${JSON.stringify(await replyTo(line, handle))}\n`);
    });
  });
  server.listen(path);
  await once(server, "listening");
  if (process.platform !== "win32") chmodSync(path, 0o600);
  return {
    async stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
      if (process.platform !== "win32") rmSync(path, { force: true });
    },
  };
}

/** Runs a command in the running service. Rejects with NobodyListens when there is none. */
export async function callControl(path: string, command: string, input: unknown): Promise<object> {
  const socket = connect(path);
  try {
    await once(socket, "connect");
  } catch (error) {
    throw new NobodyListens(`no service listens on ${path}`, { cause: error });
  }
  socket.write(`${JSON.stringify({ command, input })}\n`);
  let text = "";
  for await (const chunk of socket.setEncoding("utf8")) text += chunk;
  const reply = JSON.parse(text) as Reply;
  if (reply.error) throw new RemoteError(reply.error.code, reply.error.message);
  return reply.result ?? {};
}

/** An error that arose in the service, under the code it had there. */
export class RemoteError extends BreezewayError {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

async function replyTo(line: string, handle: HandleCommand): Promise<Reply> {
  try {
    const { command, input } = JSON.parse(line) as { command: string; input: unknown };
    return { result: await handle(command, input) };
  } catch (error) {
    const code = error instanceof BreezewayError ? error.code : "failed";
    return { error: { code, message: error instanceof Error ? error.message : String(error) } };
  }
}
