import { describe, it } from "node:test";
import { provisionOverAKill } from "./large-batches.ts";

describe("a batch whose service is killed", () => {
  it("creates no device twice when it is repeated with its key", { timeout: 300_000 }, (t) =>
    provisionOverAKill(t, { database: "sqlite", devices: 500 }),
  );
});
