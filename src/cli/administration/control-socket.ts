import { once } from "node:events";
import { chmodSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { BreezewayError, OutcomeUnknown } from "../../model/errors.ts";
import { exitCodes } from "../exit-codes.ts";
import type { Tell } from "../terminal/progress.ts";

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
  /** Sent at once to a client that asks for it: the service is alive, and works on the command. */
  readonly isHeard?: true;
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
    // The interface repeats the socket's error: a command that ended before its answer must not stop the service.
    const lines = createInterface({ input: socket }).on("error", () => socket.destroy());
    lines.once("line", async (line) => {
      const say = (reply: Reply) => `${JSON.stringify(reply)}\n`;
      if (asksForSign(line)) socket.write(say({ isHeard: true }));
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

/**
 * Runs a command in the running service. Rejects with NobodyListens when there is none, and, with `signWithinMs`, with
 * ServiceSilent when the service is there but gives no sign for so long: it is frozen or overloaded.
 */
export async function callControl(
  path: string,
  command: string,
  input: unknown,
  tell: Tell = () => undefined,
  signWithinMs?: number,
): Promise<object> {
  const socket = connect(path);
  try {
    await once(socket, "connect");
  } catch (error) {
    throw new NobodyListens(`no service listens on ${path}`, { cause: error });
  }
  socket.write(`${JSON.stringify({ command, input, isSignWanted: true })}\n`);
  const lines = createInterface({ input: socket });
  let reply: Reply | undefined;
  let isSilent = false;
  const silence =
    signWithinMs === undefined
      ? undefined
      : setTimeout(() => {
          isSilent = true;
          lines.close();
          socket.destroy();
        }, signWithinMs);
  const unanswered =
    "The service ended before it had answered. The command may have been carried out or not: look before you repeat it.";
  try {
    for await (const line of lines) {
      clearTimeout(silence);
      const said = JSON.parse(line) as Reply;
      if (said.isHeard) continue;
      reply = said;
      if (reply.progress) tell(...reply.progress);
    }
  } catch (error) {
    throw new OutcomeUnknown(unanswered, { cause: error });
  } finally {
    clearTimeout(silence);
  }
  if (isSilent) throw new ServiceSilent(path, signWithinMs ?? 0);
  if (!reply || reply.progress) throw new OutcomeUnknown(unanswered);
  if (reply.error) throw new RemoteError(reply.error.code, reply.error.message);
  return reply.result ?? {};
}

/** The service holds its folder, but does not answer. */
export class ServiceSilent extends BreezewayError {
  readonly code = "service_silent";
  readonly exitCode = exitCodes.unreachable;

  constructor(path: string, waitedMs: number) {
    super(
      `The service at ${path} does not answer: it has given no sign for ${waitedMs / 1_000} s. It is frozen or overloaded, and how its links stand is unknown. See: breezeway doctor`,
    );
  }
}

/** An error that arose in the service, under the code it had there. */
class RemoteError extends BreezewayError {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Clients of the version before don't ask: they would take the sign for the answer if the service ended behind it. */
function asksForSign(line: string): boolean {
  try {
    return (JSON.parse(line) as { readonly isSignWanted?: boolean }).isSignWanted === true;
  } catch {
    return false;
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
