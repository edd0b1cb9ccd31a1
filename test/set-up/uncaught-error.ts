import { IncomingMessage } from "node:http";

/**
 * Run first in a child process, it makes errors that nothing catches. SIGUSR2: when a stream brings text that holds
 * UNCAUGHT_TEXT, the work for that stream throws in a later turn and rejects a promise that nobody awaits. SIGUSR1: a
 * promise that belongs to no link is rejected.
 */
const text = process.env.UNCAUGHT_TEXT ?? "";
let isArmed = false;

process.on("SIGUSR2", () => {
  isArmed = true;
});
process.on("SIGUSR1", () => {
  Promise.reject(new TypeError("planted for nobody"));
});

const { setEncoding } = IncomingMessage.prototype;
IncomingMessage.prototype.setEncoding = function (encoding) {
  return setEncoding.call(this, encoding).on("data", (chunk: string) => {
    if (!isArmed || !chunk.includes(text)) return;
    isArmed = false;
    Promise.reject(new TypeError("planted rejection"));
    setImmediate(() => {
      throw new TypeError("planted exception");
    });
  });
};
