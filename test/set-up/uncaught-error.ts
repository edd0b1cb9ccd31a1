import { type BodyListener, HeldBody } from "../../src/ecosystem/nest/held-body.ts";

/**
 * Run first in a child process, it makes errors that nothing catches. SIGUSR2: when a stream brings bytes that hold
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

const listen = HeldBody.prototype.listen;
HeldBody.prototype.listen = function (listener: BodyListener) {
  listen.call(this, {
    piece(bytes) {
      if (isArmed && bytes.includes(text)) {
        isArmed = false;
        Promise.reject(new TypeError("planted rejection"));
        setImmediate(() => {
          throw new TypeError("planted exception");
        });
      }
      listener.piece(bytes);
    },
    ended: () => listener.ended(),
  });
};
