import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { type MirrorDigests, mirrorDigests } from "./mirror-digest.ts";
import { recordingUrl } from "./recording.ts";

const recorded: MirrorDigests = JSON.parse(readFileSync(recordingUrl, "utf8"));

describe("the virtual device shows what it always showed", () => {
  const now = mirrorDigests();

  for (const part of ["samples", "accounts", "history"] as const) {
    it(`of the recorded ${part}`, () => {
      assert.equal(now[part].length, recorded[part].length);
      const differing = now[part].flatMap((digest, i) => (digest === recorded[part][i] ? [] : [i]));
      assert.deepEqual(differing, [], "these are shown differently");
    });
  }
});
