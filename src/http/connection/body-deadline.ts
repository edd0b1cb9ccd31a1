import type { IncomingMessage } from "node:http";

type Late = (request: IncomingMessage) => void;

const deadlines = new WeakMap<IncomingMessage, { readonly late: Late; timer: NodeJS.Timeout }>();

/**
 * Calls `late` when a body has not arrived in time. Node's own time limit is the same for every request, and a batch
 * may take longer.
 */
export function limitBodyTime(request: IncomingMessage, timeoutMs: number, late: Late): void {
  const { headers } = request;
  if (headers["content-length"] === undefined && headers["transfer-encoding"] === undefined) return;
  const deadline = { late, timer: timerOf(request, timeoutMs, late) };
  deadlines.set(request, deadline);
  request.once("close", () => clearTimeout(deadline.timer));
}

/** Gives a body, which the service carries out while it arrives, another time limit, counted from now. */
export function extendBodyTime(request: IncomingMessage, timeoutMs: number): void {
  const deadline = deadlines.get(request);
  if (!deadline) return;
  clearTimeout(deadline.timer);
  deadline.timer = timerOf(request, timeoutMs, deadline.late);
}

function timerOf(request: IncomingMessage, timeoutMs: number, late: Late): NodeJS.Timeout {
  return setTimeout(() => {
    if (!request.complete && !request.destroyed && !request.socket.destroyed) late(request);
  }, timeoutMs).unref();
}
