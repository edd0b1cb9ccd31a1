import type { Socket } from "node:net";

const signals = new WeakMap<Socket, AbortSignal>();

/**
 * A signal that aborts when the connection closes. One listener for each connection: requests that follow each other on
 * it share the signal.
 */
export function closingOf(socket: Socket): AbortSignal {
  const known = signals.get(socket);
  if (known) return known;
  if (socket.destroyed) return AbortSignal.abort();
  const controller = new AbortController();
  socket.once("close", () => controller.abort());
  signals.set(socket, controller.signal);
  return controller.signal;
}
