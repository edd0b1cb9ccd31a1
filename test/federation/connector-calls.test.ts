import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, it } from "node:test";
import { readAccount } from "../../src/federation/connector-calls.ts";
import { EcosystemRefused, EcosystemUnreachable } from "../../src/model/errors.ts";
import { home } from "./made-homes.ts";
import { manualRuntime } from "./manual-runtime.ts";
import { ScriptedConnector } from "./scripted-connector.ts";

describe("a read of an account", () => {
  it("settles as its connector does, also soon after an abort, and leaves nothing behind", async () => {
    const { connector, runtime, stopping, read } = reading();
    connector.lastRead.resolve(home());
    assert.deepEqual(await read, home());
    const refused = readAccount(connector, "token", stopping.signal, runtime);
    stopping.abort();
    connector.lastRead.reject(new EcosystemRefused("The token isn't good."));
    await assert.rejects(refused, EcosystemRefused);
    assert.deepEqual([runtime.timers, getEventListeners(stopping.signal, "abort")], [0, []]);
  });

  it("ends seconds after an abort that its connector ignores", { timeout: 20_000 }, async () => {
    const { runtime, stopping, read } = reading();
    const outcome = assert.rejects(read, EcosystemUnreachable);
    stopping.abort();
    await runtime.advance(5_000);
    await outcome;
    assert.deepEqual([runtime.timers, getEventListeners(stopping.signal, "abort")], [0, []]);
  });

  it("ends after three minutes though its connector never answers", { timeout: 20_000 }, async () => {
    const { runtime, read } = reading();
    const outcome = assert.rejects(read, EcosystemUnreachable);
    await runtime.advance(185_000);
    await outcome;
  });
});

/** A read in progress, whose connector ignores its signal. */
function reading() {
  const [connector, runtime, stopping] = [new ScriptedConnector(), manualRuntime(), new AbortController()];
  return { connector, runtime, stopping, read: readAccount(connector, "token", stopping.signal, runtime) };
}
