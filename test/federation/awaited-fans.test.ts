import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { CommitTables } from "../../src/devices/commit.ts";
import { AwaitedFans } from "../../src/federation/commands/awaited-fans.ts";
import { commandDeadlines } from "../../src/home/command-states.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import type { FanRequestRow } from "../../src/store/tables/fan-requests.ts";
import { thermostatAttribute } from "../../src/virtual-device/attribute-names.ts";
import { blankValues } from "../../src/virtual-device/attribute-values.ts";

const deviceId = 5 as DeviceId;
const fan = thermostatAttribute(1, 2, "fanTimerActive");

const request = {
  id: 9,
  userId: 1 as UserId,
  deviceId,
  attribute: thermostatAttribute(1, 2, "requestWrite"),
  thermostatId: "hall",
  value: "true",
  state: "accepted",
} as FanRequestRow;

/** The values of a snapshot in which slot 1.2 shows this thermostat and this state of its fan. */
function snapshot(thermostatId: string, active: string) {
  const values = [...blankValues];
  values[thermostatAttribute(1, 2, "deviceId")] = thermostatId;
  values[fan] = active;
  return values;
}

const latestIs = (latest: Partial<FanRequestRow> | undefined) =>
  ({ fanRequests: { latest: async () => latest } }) as unknown as Pick<CommitTables, "fanRequests">;

describe("a sent fan request for a fan that runs already", () => {
  function awaiting(sentMs = 100) {
    const fans = new AwaitedFans();
    fans.add(request, sentMs);
    return fans;
  }

  it("is restated once by the next snapshot that shows the fan", async () => {
    const fans = awaiting();
    const restated = fans.restated(deviceId, 100, () => snapshot("hall", "true"))!;
    assert.deepEqual(await restated.changes(latestIs(request)), [{ key: fan, value: "true", isRestated: true }]);
    assert.ok(
      fans.restated(deviceId, 101, () => snapshot("hall", "true")),
      "until the changes are durable",
    );
    restated.stored();
    assert.equal(
      fans.restated(deviceId, 102, () => snapshot("hall", "true")),
      undefined,
    );
  });

  it("waits for a snapshot that was received after the sending, and of its own device", () => {
    const fans = awaiting();
    assert.equal(
      fans.restated(deviceId, 99, () => snapshot("hall", "true")),
      undefined,
    );
    assert.equal(
      fans.restated(6 as DeviceId, 200, () => snapshot("hall", "true")),
      undefined,
    );
    assert.ok(fans.restated(deviceId, 100, () => snapshot("hall", "true")));
  });

  it("is given up when a later snapshot shows another state, or another thermostat in the slot", () => {
    for (const other of [snapshot("hall", "false"), snapshot("attic", "true")]) {
      const fans = awaiting();
      assert.equal(
        fans.restated(deviceId, 100, () => other),
        undefined,
      );
      assert.equal(
        fans.restated(deviceId, 101, () => snapshot("hall", "true")),
        undefined,
      );
    }
  });

  it("is not restated when it was superseded or settled meanwhile", async () => {
    const { changes } = awaiting().restated(deviceId, 100, () => snapshot("hall", "true"))!;
    assert.deepEqual(await changes(latestIs({ ...request, id: 10 })), []);
    assert.deepEqual(await changes(latestIs({ ...request, state: "confirmed" })), []);
    assert.deepEqual(await changes(latestIs(undefined)), []);
  });

  it("is noted as shown, and not restated, by a snapshot from before the answer", async () => {
    const fans = awaiting();
    assert.equal(fans.isShown(request), false);
    const restated = fans.restated(deviceId, 100, () => snapshot("hall", "true"))!;
    assert.deepEqual(await restated.changes(latestIs({ ...request, state: "sending" })), []);
    restated.stored();
    assert.equal(fans.isShown(request), true);
    assert.equal(fans.isShown({ ...request, id: 10 }), false);
    assert.equal(
      fans.restated(deviceId, 101, () => snapshot("hall", "true")),
      undefined,
      "the answer restates it",
    );
  });

  it("is restated after a missing answer", async () => {
    const { changes } = awaiting().restated(deviceId, 100, () => snapshot("hall", "true"))!;
    const expired = latestIs({ ...request, state: "expired" });
    assert.deepEqual(await changes(expired), [{ key: fan, value: "true", isRestated: true }]);
  });

  it("stays when a newer request of the thermostat came before the changes were durable", () => {
    const fans = awaiting();
    const { stored } = fans.restated(deviceId, 100, () => snapshot("hall", "true"))!;
    fans.add({ ...request, id: 10 }, 150);
    stored();
    assert.ok(fans.restated(deviceId, 150, () => snapshot("hall", "true")));
  });

  it("is dropped when no snapshot has shown it in time", () => {
    const fans = awaiting();
    fans.forgetOverdue(100 + commandDeadlines.showMs);
    assert.ok(fans.restated(deviceId, 200, () => snapshot("hall", "true")));
    fans.forgetOverdue(101 + commandDeadlines.showMs);
    assert.equal(
      fans.restated(deviceId, 200, () => snapshot("hall", "true")),
      undefined,
    );
  });
});
