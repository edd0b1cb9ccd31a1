import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CausedEchoes } from "../../src/federation/commands/caused-echoes.ts";
import type { CommandConnection } from "../../src/federation/commands/command-kind.ts";
import { StoreUnavailable } from "../../src/model/errors.ts";
import { flushPromises, manualRuntime } from "./manual-runtime.ts";

describe("a state that a command has caused", () => {
  function made({ isStored = true, fails }: { readonly isStored?: boolean; readonly fails?: Error } = {}) {
    const runtime = manualRuntime();
    const settledCommands: string[] = [];
    const errors: unknown[] = [];
    const connection = { stored: async () => isStored, failed: (error: unknown) => void errors.push(error) };
    const caused = Promise.withResolvers<void>();
    const echoes = new CausedEchoes<string>({
      runtime,
      settle: async (command) => {
        if (fails) throw fails;
        settledCommands.push(command);
      },
    });
    echoes.expect("fan on", caused.promise, connection as unknown as CommandConnection);
    return { runtime, echoes, settledCommands, errors, caused };
  }

  it("settles the command two seconds after it was shown, and not before", async () => {
    const { runtime, settledCommands, caused } = made();
    await runtime.advance(60_000);
    assert.deepEqual(settledCommands, []);
    caused.resolve();
    await flushPromises();
    await runtime.advance(1_999);
    assert.deepEqual(settledCommands, []);
    await runtime.advance(1);
    assert.deepEqual(settledCommands, ["fan on"]);
  });

  it("proves nothing while it is not stored", async () => {
    const { runtime, settledCommands, caused } = made({ isStored: false });
    caused.resolve();
    await flushPromises();
    await runtime.advance(10_000);
    assert.deepEqual(settledCommands, []);
  });

  it("settles nothing after a stop, whether it was shown before or after it", async () => {
    for (const isShownBefore of [true, false]) {
      const { runtime, echoes, settledCommands, caused } = made();
      if (isShownBefore) caused.resolve();
      await flushPromises();
      await echoes.stop();
      caused.resolve();
      await flushPromises();
      await runtime.advance(10_000);
      assert.deepEqual([settledCommands, runtime.timers], [[], 0]);
    }
  });

  it("reports an error of the settling to the link, unless the store is unavailable", async () => {
    const defect = new Error("a defect");
    for (const [fails, expected] of [
      [defect, [defect]],
      [new StoreUnavailable("The store can't be reached."), []],
    ] as const) {
      const { runtime, errors, caused } = made({ fails });
      caused.resolve();
      await flushPromises();
      await runtime.advance(2_000);
      await flushPromises();
      assert.deepEqual(errors, expected);
    }
  });
});
