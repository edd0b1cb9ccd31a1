import type { Socket } from "node:net";

/**
 * All held streams read into this one buffer. A buffer for each read would be garbage outside of the engine's memory, and
 * that of some hundred full accounts sets off a collection of everything.
 */
const shared: Buffer = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * How a socket is to read whose bytes go to a parser of HTTP. That takes them in at once and copies what it passes on, so
 * nobody else sees where the next read goes.
 */
export function sharedReads(socket: () => Socket) {
  const callback = (length: number): boolean => {
    socket().emit("data", shared.subarray(0, length));
    return true;
  };
  return { buffer: shared, callback };
}
