import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PreparedAnswer } from "../../src/http/answer/prepared-answer.ts";

const [one, other] = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];

describe("a prepared answer", () => {
  it("differs only in the request id, and has its length in bytes", () => {
    const answer = new PreparedAnswer({ headers: { "content-type": "text/plain" }, body: "Ä body" });
    const first = String(answer.bytesFor(one));
    const second = String(answer.bytesFor(other));
    assert.equal(second, first.replace(one, other));
    assert.match(first, new RegExp(`\r\nx-request-id: ${one}\r\n`));
    assert.match(first, /\r\ncontent-length: 7\r\n/);
    assert.match(first, /\r\n\r\nÄ body$/);
    assert.equal(String(answer.body), "Ä body");
  });

  it("does not overwrite bytes that are still being sent", () => {
    const answer = new PreparedAnswer({ headers: {}, body: "a body" });
    const sending = answer.bytesFor(one);
    const as = String(sending);
    answer.keep();
    assert.notEqual(String(answer.bytesFor(other)), as);
    assert.equal(String(sending), as);
    assert.equal(String(answer.body), "a body");
  });
});
