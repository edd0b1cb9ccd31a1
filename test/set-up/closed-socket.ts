import type { Socket } from "node:net";

/**
 * Resolves when the socket is closed. A reset is no error: the other side may have closed before it read everything.
 * `once(socket, "close")` rejects then.
 */
export function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) return resolve();
    socket.on("error", () => undefined).once("close", () => resolve());
  });
}
