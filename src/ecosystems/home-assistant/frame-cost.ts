import type { Socket } from "node:net";
import type WebSocket from "ws";

/**
 * Measures the CPU time that the library needs to take frames apart. Half a million of the smallest frames have a
 * megabyte and take 150 ms, and most of them reach no listener: a message may have any number of empty fragments.
 */
export function measureFrames(socket: WebSocket) {
  let costMs = 0;
  /** When the library went on with a chunk; undefined outside a chunk and while a message is handled. */
  let sinceMs: number | undefined;
  const goOn = () => {
    sinceMs = performance.now();
  };
  const hold = () => {
    if (sinceMs !== undefined) costMs += performance.now() - sinceMs;
    sinceMs = undefined;
  };
  const emit = socket.emit.bind(socket);
  socket.emit = (event: string, ...details: unknown[]) => {
    if (event !== "message" || sinceMs === undefined) return emit(event, ...details);
    hold();
    const isHandled = emit(event, ...details);
    goOn();
    return isHandled;
  };
  return {
    /** The connection of the socket, to which the library listens already. */
    listen: (connection: Socket) => void connection.prependListener("data", goOn).on("data", hold),
    takeCostMs: () => {
      const takenMs = costMs;
      costMs = 0;
      return takenMs;
    },
  };
}
