import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { WatchedGrants } from "../../src/oauth/watched-grants.ts";
import type { GrantRow } from "../../src/store/tables/grants.ts";

const grantOf = (id: string) => ({ id }) as GrantRow;

/** Watched grants, and the streams that were ended. */
function watching() {
  const watched = new WatchedGrants();
  const ended: string[] = [];
  return { watched, ended, add: (id: string, stream: string) => watched.add(grantOf(id), () => ended.push(stream)) };
}

describe("the grant of an open stream", () => {
  it("ends all its streams, each once, and no others", () => {
    const { watched, ended, add } = watching();
    for (const stream of ["a", "b"]) add("1", stream);
    add("2", "c");
    watched.end("1");
    watched.end("1");
    watched.end("unknown");
    assert.deepEqual(ended, ["a", "b"]);
    assert.deepEqual(watched.grants, [grantOf("2")]);
  });

  it("is watched until its last stream is closed, and ends no closed stream", () => {
    const { watched, ended, add } = watching();
    const [closeA, closeB] = [add("1", "a"), add("1", "b")];
    closeA();
    assert.deepEqual(watched.grants, [grantOf("1")]);
    watched.end("1");
    assert.deepEqual(ended, ["b"]);
    closeB();
    add("1", "c")();
    assert.deepEqual(watched.grants, []);
  });

  it("stays watched when a stream that ended with it is closed after another one was opened", () => {
    const { watched, add } = watching();
    const close = add("1", "a");
    watched.end("1");
    add("1", "b");
    close();
    assert.deepEqual(watched.grants, [grantOf("1")]);
  });
});
