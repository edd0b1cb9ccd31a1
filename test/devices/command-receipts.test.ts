import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { receiptNumber } from "../../src/devices/command-receipts.ts";

describe("the id of a receipt", () => {
  it("has the kind and the number of a command or a fan request", () => {
    assert.deepEqual(
      [receiptNumber("c17"), receiptNumber("f1")],
      [
        { kind: "c", id: 17 },
        { kind: "f", id: 1 },
      ],
    );
  });

  it("is refused in any other form", () => {
    for (const text of ["", "c", "f", "17", "x17", "cc1", "c-1", "c1x", "F1"]) {
      assert.equal(receiptNumber(text), undefined, text);
    }
  });
});
