import { once } from "node:events";
import { chmodSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { BreezewayError, StoreUnavailable } from "../model/errors.ts";
import type { Tell } from "./progress.ts";

/**
 * How a command and the running service talk: one line of JSON each way, over a socket only the owner can open. Before
 * its answer the service may say how far it has come, a line each time.
 */
export type HandleCommand = (command: string, input: unknown, tell: Tell) => Promise<object>;

export interface ControlServer {
  stop(): Promise<void>;
}

/** The service is not listening there. */
export class NobodyListens extends Error {}

interface Reply {
  readonly progress?: readonly [done: number, total: number];
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
      const say = (reply: Reply) => `${JSON.stringify(reply)}\n`;
      const tell = seldom((done, total) => void socket.write(say({ progress: [done, total] })));
      socket.end(say(await replyTo(line, handle, tell)));
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
export async function callControl(
  path: string,
  command: string,
  input: unknown,
  tell: Tell = () => undefined,
): Promise<object> {
  const socket = connect(path);
  try {
    await once(socket, "connect");
  } catch (error) {
    throw new NobodyListens(`no service listens on ${path}`, { cause: error });
  }
  socket.write(`${JSON.stringify({ command, input })}\n`);
  let reply: Reply | undefined;
  for await (const line of createInterface({ input: socket })) {
    reply = JSON.parse(line) as Reply;
    if (reply.progress) tell(...reply.progress);
  }
  if (!reply || reply.progress) throw new StoreUnavailable("The service ended before it had answered.");
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

async function replyTo(line: string, handle: HandleCommand, tell: Tell): Promise<Reply> {
  try {
    const { command, input } = JSON.parse(line) as { command: string; input: unknown };
    return { result: await handle(command, input, tell) };
  } catch (error) {
    const code = error instanceof BreezewayError ? error.code : "failed";
    return { error: { code, message: error instanceof Error ? error.message : String(error) } };
  }
}

/** Ten times a second is all that anybody sees. */
function seldom(tell: Tell): Tell {
  let lastMs = Number.NEGATIVE_INFINITY;
  return (done, total) => {
    if (performance.now() - lastMs < 100) return;
    lastMs = performance.now();
    tell(done, total);
  };
}
