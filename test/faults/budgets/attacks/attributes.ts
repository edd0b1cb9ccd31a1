import assert from "node:assert/strict";
import { limits } from "../../../../src/model/limits.ts";
import type { Attack } from "../attack.ts";
import { sendMany } from "../requests.ts";

const writes = 60;
const namesOfEach = 5_800;

/** 60 writes with thousands of new names. */
export const attributes: Attack = {
  name: "attributes",
  run: (target) =>
    sendMany(target, { count: writes, atOnce: 4, forMs: 60_000 }, (index) => ({
      method: "PUT",
      path: `/v3/devices/${target.devices[0]}`,
      token: target.accessToken,
      text: newNames(index),
    })),
  judge({ rows }) {
    const { attributesPerDevice = 0 } = limits as { attributesPerDevice?: number };
    const { before, after } = rows.attributes!;
    assert.ok(after - before <= attributesPerDevice, `${after - before} attributes were added to one device`);
  },
};

function newNames(index: number): string {
  const first = 100_000 + index * namesOfEach;
  const names = Array.from({ length: namesOfEach }, (_, i) => `"${(first + i).toString(36)}":"1"`);
  return `{${names.join(",")}}`;
}
