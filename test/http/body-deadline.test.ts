import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import { describe, it } from "node:test";
import { extendBodyTime, limitBodyTime } from "../../src/http/connection/body-deadline.ts";

function requestWith(headers: Readonly<Record<string, string>>): IncomingMessage {
  const request = Object.assign(new EventEmitter(), { headers, complete: false, socket: { destroyed: false } });
  return request as unknown as IncomingMessage;
}

const chunked = { "transfer-encoding": "chunked" };

describe("the deadline of a request's body", () => {
  it("ends a body that is late, and a batch has another one from the moment it is extended", (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const late: IncomingMessage[] = [];
    const [slow, batch] = [requestWith(chunked), requestWith({ "content-length": "5" })];
    for (const request of [slow, batch]) limitBodyTime(request, 10, (one) => void late.push(one));
    t.mock.timers.tick(9);
    extendBodyTime(batch, 100);
    t.mock.timers.tick(1);
    assert.deepEqual(late, [slow]);
    t.mock.timers.tick(98);
    assert.deepEqual(late, [slow]);
    t.mock.timers.tick(1);
    assert.deepEqual(late, [slow, batch]);
  });

  it("concerns neither a body that has arrived, nor a closed connection, nor a request without a body", (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const late: IncomingMessage[] = [];
    const [whole, gone, closed, empty] = [chunked, chunked, chunked, {}].map(requestWith) as IncomingMessage[];
    for (const one of [whole!, gone!, closed!, empty!]) limitBodyTime(one, 10, (found) => void late.push(found));
    whole!.complete = true;
    Object.assign(gone!.socket, { destroyed: true });
    closed!.emit("close");
    extendBodyTime(empty!, 5);
    t.mock.timers.tick(1_000);
    assert.deepEqual(late, []);
  });
});
