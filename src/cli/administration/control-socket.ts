import { once } from "node:events";
import { chmodSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { BreezewayError, OutcomeUnknown } from "../../model/errors.ts";
import { currentSystemUser, readSystemUser, type SystemUser } from "../../runtime/process/system-user.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ReportProgress } from "../terminal/progress.ts";

/**
 * Handles one command. The protocol between a command and the running service: one line of JSON in each direction, over a
 * socket that only its owner can open. Before its answer the service may send progress, one line each time.
 */
export type HandleCommand = (
  command: string,
  input: unknown,
  onProgress: ReportProgress,
  caller: SystemUser | undefined,
) => Promise<object>;

export interface ControlServer {
  stop(): Promise<void>;
}

/** No service listens on the socket. */
export class NoServiceListening extends Error {}

interface Reply {
  /** An acknowledgement, sent at once to a client that asks for it: the service is alive and works on the command. */
  readonly isHeard?: true;
  readonly progress?: readonly [done: number, total: number];
  readonly result?: object;
  readonly error?: { readonly code: string; readonly message: string };
}

export async function serveControl(path: string, handle: HandleCommand): Promise<ControlServer> {
  // Only the holder of the folder's lock gets here, so an existing socket file belongs to a killed service.
  if (process.platform !== "win32") rmSync(path, { force: true });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    // readline repeats the socket's error; without a listener, a command that ends early would stop the service.
    const lines = createInterface({ input: socket }).on("error", () => socket.destroy());
    lines.once("line", async (line) => {
      const say = (reply: Reply) => `${JSON.stringify(reply)}\n`;
      if (wantsAcknowledgement(line)) socket.write(say({ isHeard: true }));
      const onProgress = throttled((done, total) => void socket.write(say({ progress: [done, total] })));
      socket.end(say(await replyTo(line, handle, onProgress)));
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
 * Runs a command in the running service. Rejects with NoServiceListening if there is none. With `acknowledgeWithinMs` it rejects
 * with ServiceSilent if the service sends nothing for that time, because it is frozen or overloaded.
 */
export async function callControl(
  path: string,
  command: string,
  input: unknown,
  onProgress: ReportProgress = () => undefined,
  acknowledgeWithinMs?: number,
): Promise<object> {
  const socket = connect(path);
  try {
    await once(socket, "connect");
  } catch (error) {
    throw new NoServiceListening(`no service listens on ${path}`, { cause: error });
  }
  socket.write(`${JSON.stringify({ command, input, caller: currentSystemUser(), isSignWanted: true })}\n`);
  const lines = createInterface({ input: socket });
  let reply: Reply | undefined;
  let isSilent = false;
  const silence =
    acknowledgeWithinMs === undefined
      ? undefined
      : setTimeout(() => {
          isSilent = true;
          lines.close();
          socket.destroy();
        }, acknowledgeWithinMs);
  const unanswered =
    "The service ended before it had answered. The command may have been carried out or not: look before you repeat it.";
  try {
    for await (const line of lines) {
      clearTimeout(silence);
      const message = JSON.parse(line) as Reply;
      if (message.isHeard) continue;
      reply = message;
      if (reply.progress) onProgress(...reply.progress);
    }
  } catch (error) {
    throw new OutcomeUnknown(unanswered, { cause: error });
  } finally {
    clearTimeout(silence);
  }
  if (isSilent) throw new ServiceSilent(path, acknowledgeWithinMs ?? 0);
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
      `The service at ${path} does not answer: it has sent nothing for ${waitedMs / 1_000} s. It is frozen or overloaded, and the state of its links is unknown. See: breezeway doctor`,
    );
  }
}

/** An error of the service, with its code. */
class RemoteError extends BreezewayError {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Whether the client asks for an acknowledgement. A client of an older version would take it for the answer. */
function wantsAcknowledgement(line: string): boolean {
  try {
    return (JSON.parse(line) as { readonly isSignWanted?: boolean }).isSignWanted === true;
  } catch {
    return false;
  }
}

async function replyTo(line: string, handle: HandleCommand, onProgress: ReportProgress): Promise<Reply> {
  try {
    const { command, input, caller } = JSON.parse(line) as { command: string; input: unknown; caller?: unknown };
    return { result: await handle(command, input, onProgress, readSystemUser(caller)) };
  } catch (error) {
    const code = error instanceof BreezewayError ? error.code : "failed";
    return { error: { code, message: error instanceof Error ? error.message : String(error) } };
  }
}

/** Limits progress to ten messages a second. */
function throttled(onProgress: ReportProgress): ReportProgress {
  let lastMs = Number.NEGATIVE_INFINITY;
  return (done, total) => {
    if (performance.now() - lastMs < 100) return;
    lastMs = performance.now();
    onProgress(done, total);
  };
}
