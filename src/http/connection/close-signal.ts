import type { Socket } from "node:net";

const signals = new WeakMap<Socket, AbortSignal>();

/**
 * A signal that aborts when the connection closes. There is one listener per connection: its requests share the signal.
 */
export function closeSignalOf(socket: Socket): AbortSignal {
  const known = signals.get(socket);
  if (known) return known;
  if (socket.destroyed) return AbortSignal.abort();
  const controller = new AbortController();
  socket.once("close", () => controller.abort());
  signals.set(socket, controller.signal);
  return controller.signal;
}
