import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { HeadSplitter } from "../../src/http/connection/head-splitter.ts";

describe("a piece of a connection's bytes", () => {
  const head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  const body = "\r\n\r\nGET";
  const post = `POST / HTTP/1.1\r\nContent-Length: ${body.length}\r\n\r\n`;
  const text = head + head + post + body + head;
  const endsOfHeads = [head.length, 2 * head.length, 2 * head.length + post.length, text.length];

  it("holds the end of one head at most, wherever a read ends", () => {
    for (let cut = 1; cut < text.length; cut++) {
      const splitter = new HeadSplitter();
      let at = 0;
      for (const read of [text.slice(0, cut), text.slice(cut)]) {
        for (let rest = Buffer.from(read); rest.length > 0; ) {
          const piece = splitter.next(rest);
          const ended = endsOfHeads.filter((end) => end > at && end <= at + piece.length);
          assert.ok(ended.length <= 1, `a read that ends at ${cut}`);
          at += piece.length;
          if (ended.length === 1) {
            assert.equal(at, ended[0], "a piece ends with the head");
            splitter.begun(at === endsOfHeads[2] ? String(body.length) : undefined);
          }
          rest = rest.subarray(piece.length);
        }
      }
      assert.equal(at, text.length);
    }
  });

  it("is the whole body where its length is known", () => {
    const splitter = new HeadSplitter();
    splitter.begun("7");
    assert.equal(splitter.next(Buffer.from(`${body}${head}`)).toString(), body);
    assert.equal(splitter.isInBody, false);
  });
});
