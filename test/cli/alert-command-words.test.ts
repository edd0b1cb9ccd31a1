import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { alertCommandInWords, readAlertCommand } from "../../src/cli/nouns/alert/alert-commands.ts";

describe("--command of an alert", () => {
  it("names a thing or a kind, perhaps a room, and a command with typed parameters", () => {
    for (const [words, command, shown] of [
      [
        "t_a: fanTimer start",
        { thingId: "t_a", trait: "fanTimer", command: "start", params: {} },
        "send fanTimer start to thing t_a",
      ],
      [
        "light:onOff set on=true",
        { kind: "light", trait: "onOff", command: "set", params: { on: true } },
        "send onOff set on=true to every light",
      ],
      [
        'thermostat@Living room: thermostat setPreset preset="At home"',
        {
          kind: "thermostat",
          room: "Living room",
          trait: "thermostat",
          command: "setPreset",
          params: { preset: "At home" },
        },
        'send thermostat setPreset preset=At home to every thermostat in "Living room"',
      ],
    ] as const) {
      assert.deepEqual(readAlertCommand(words), command);
      assert.equal(alertCommandInWords(readAlertCommand(words)), shown);
    }
  });

  it("is refused with an example when it is no command", () => {
    for (const words of ["", "light", "light onOff set", "light: onOff", ": onOff set"]) {
      assert.throws(() => readAlertCommand(words), /as in "light: onOff set on=true"/);
    }
    assert.throws(() => readAlertCommand("light: onOff set on"), /name=value/);
  });
});
