import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { structureSection } from "../../demo/console/tiles.ts";
import type { Command } from "../../sdk/src/index.ts";
import { html } from "../../src/web/html.ts";

describe("a thermostat's tile", () => {
  const cases: readonly (readonly [string, Partial<Command>, "true" | "false", RegExp | undefined])[] = [
    ["is on its way", { state: "sending" }, "false", /reached">Sent<.*"">Accepted<.*"">Running</s],
    ["was taken, but not seen yet", { state: "accepted" }, "false", /reached">Accepted<.*"">Running</s],
    ["has made the fan run", { state: "confirmed" }, "true", /reached">Running</],
    ["has made it stop", { state: "confirmed", value: "false" }, "false", /reached">Stopped</],
    ["is over, and the fan has stopped since", { state: "confirmed" }, "false", undefined],
    ["is over, and somebody has started the fan since", { state: "confirmed", value: "false" }, "true", undefined],
    ["was refused", { state: "rejected", text: "Nobody is home" }, "false", /class="error".*Nobody is home/],
  ];
  for (const [what, command, fanTimerActive, shows] of cases) {
    it(`tells ${shows ? "how far it came of" : "nothing of"} a request that ${what}`, () => {
      const shown = outcomeOf({ value: "true", text: null, ...command }, fanTimerActive);
      if (shows) assert.match(shown, shows);
      else assert.equal(shown, "");
    });
  }
});

function outcomeOf(command: Partial<Command>, fanTimerActive: string): string {
  const fields = { name: "Den", isOnline: "true", hasFan: "true", fanTimerActive };
  const thermostat = { x: 1, y: 1, fields, command: command as Command };
  const structure = { x: 1, fields: { away: "home" }, emergency: false, thermostats: [thermostat], alarms: [] };
  const { text } = structureSection(structure, () => html``, undefined);
  return /role="status">(.*?)<\/div>/s.exec(text)![1]!;
}
