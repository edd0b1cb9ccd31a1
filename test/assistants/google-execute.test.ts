import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assistantCommands } from "../../src/assistants/commanding.ts";
import type { CurrentThing } from "../../src/assistants/current-thing.ts";
import { type GoogleRequest, googleIntents } from "../../src/assistants/google-home/intents.ts";
import type { CommandReceipt } from "../../src/devices/command-receipts.ts";
import { processRuntime } from "../../src/runtime/process/process-runtime.ts";
import { silent } from "../contracts/store/home.ts";

const traits = {
  onOff: { available: true, state: { on: true }, capabilities: { readOnly: false } },
  brightness: { available: true, state: { percent: 40 }, capabilities: {} },
};
const lamps = ["t_lamp", "t_other"].map(
  (thingId) =>
    ({ thingId, kind: "light", traits, goneMs: null, isGoogles: false, isStale: false }) as unknown as CurrentThing,
);

/** Two lamps, and the commands that reach each of them, in their order. */
function world() {
  const commanded: string[] = [];
  const intents = googleIntents({
    homes: {
      all: async () => lamps,
      some: async (_, ids) =>
        new Map(lamps.filter((one) => ids.includes(one.thingId)).map((one) => [one.thingId, one])),
    },
    commands: assistantCommands({
      control: {
        async command(_scope, thingId, { command }) {
          commanded.push(`${thingId} ${command.trait} ${JSON.stringify(Object.values(command.params))}`);
          return { id: "c1", thingId, command, state: "confirmed", error: null } as CommandReceipt;
        },
        receipt: () => assert.fail("each command has its outcome at once"),
      },
      admitCommand: () => undefined,
      runtime: processRuntime(silent),
    }),
    grants: { establish: async () => undefined } as never,
  });
  const asking = {
    caller: { kind: "user", userId: 1, tenantId: 1, scopes: ["devices:read", "devices:control"] },
    outlet: { id: "o", tenantId: 1, clientId: "c" },
  } as unknown as GoogleRequest;
  return { commanded, execute: intents.execute.bind(intents, asking) };
}

const step = (command: string, params: object) => ({
  command: `action.devices.commands.${command}`,
  params: params as Record<string, unknown>,
});

describe("a request of Google that names a device twice", () => {
  it("has its commands carried out in their order", async () => {
    const { commanded, execute } = world();
    const answer = await execute([
      {
        deviceIds: ["t_lamp", "t_other"],
        steps: [step("OnOff", { on: true }), step("BrightnessAbsolute", { brightness: 80 })],
      },
      { deviceIds: ["t_lamp"], steps: [step("OnOff", { on: false })] },
    ]);
    assert.deepEqual(
      commanded.filter((one) => one.startsWith("t_lamp")),
      ["t_lamp onOff [true]", "t_lamp brightness [80]", "t_lamp onOff [false]"],
    );
    const { commands } = answer as { commands: readonly { ids: string[]; status: string }[] };
    assert.deepEqual(
      commands.map(({ ids, status }) => [...ids, status]),
      [
        ["t_lamp", "SUCCESS"],
        ["t_other", "SUCCESS"],
        ["t_lamp", "SUCCESS"],
      ],
    );
  });
});
