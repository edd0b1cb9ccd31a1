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
    fans.answer(request);
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
    assert.deepEqual(await changes(latestIs({ ...request, state: "rejected" })), []);
    assert.deepEqual(await changes(latestIs(undefined)), []);
  });

  it("is restated at once by the answer if the last snapshot since the sending showed the fan", () => {
    for (const [receivedMs, states, isShown] of [
      [100, ["true"], true],
      [100, ["false", "true"], true],
      [100, ["true", "false"], false],
      [99, ["true"], false],
    ] as const) {
      const fans = new AwaitedFans();
      fans.add(request, 100);
      for (const state of states) {
        assert.equal(
          fans.restated(deviceId, receivedMs, () => snapshot("hall", state)),
          undefined,
        );
      }
      assert.equal(fans.answer({ ...request, id: 10 }), false);
      assert.equal(fans.answer(request), isShown);
      assert.ok(fans.restated(deviceId, 101, () => snapshot("hall", "true")));
    }
  });

  it("is restated as long as it is not confirmed or refused", async () => {
    for (const state of ["sending", "accepted", "expired"] as const) {
      const { changes } = awaiting().restated(deviceId, 100, () => snapshot("hall", "true"))!;
      assert.deepEqual(await changes(latestIs({ ...request, state })), [{ key: fan, value: "true", isRestated: true }]);
    }
  });

  it("stays when a newer request of the thermostat came before the changes were durable", () => {
    const fans = awaiting();
    const { stored } = fans.restated(deviceId, 100, () => snapshot("hall", "true"))!;
    fans.add({ ...request, id: 10 }, 150);
    fans.answer({ ...request, id: 10 });
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
