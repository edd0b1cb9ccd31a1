import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { CommitTables } from "../../src/devices/commit.ts";
import { blockedUntil } from "../../src/federation/commands/blocked-until.ts";
import { thermostatKey } from "../../src/home/reported-things.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";

describe("a pause that the ecosystem asks for", () => {
  const until = (key: string, commandMs: number | null, fanMs: number | null) => {
    const tx = {
      thingCommands: {
        blockedUntil: async (_user: UserId, _device: DeviceId, of: string) => (of === key ? commandMs : 0),
      },
      fanRequests: {
        blockedUntil: async (_user: UserId, _device: DeviceId, of: string) => (of === "hall" ? fanMs : 0),
      },
    };
    const thing = { userId: 1 as UserId, deviceId: 2 as DeviceId, key };
    return blockedUntil(tx as unknown as CommitTables, thing, 0);
  };

  it("counts for commands and fan requests of a thermostat alike: the later one decides", async () => {
    const hall = thermostatKey("hall");
    assert.equal(await until(hall, null, null), null);
    assert.equal(await until(hall, 5, null), 5);
    assert.equal(await until(hall, null, 7), 7);
    assert.equal(await until(hall, 5, 7), 7);
    assert.equal(await until(hall, 9, 7), 9);
  });

  it("counts for commands alone where the thing is no thermostat", async () => {
    assert.equal(await until("light/hall", 5, 7), 5);
    assert.equal(await until("light/hall", null, 7), null);
  });
});
