import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { structureSection } from "../../demo/console/tiles.ts";
import type { Command } from "../../sdk/src/index.ts";
import { html } from "../../src/web/html.ts";

describe("a thermostat's tile", () => {
  const cases: readonly (readonly [string, Partial<Command>, "true" | "false", RegExp | undefined])[] = [
    ["is being sent", { state: "sending" }, "false", /reached">Sent<.*"">Accepted<.*"">Running</s],
    ["was accepted, but not confirmed yet", { state: "accepted" }, "false", /reached">Accepted<.*"">Running</s],
    ["has started the fan", { state: "confirmed" }, "true", /reached">Running</],
    ["has stopped the fan", { state: "confirmed", value: "false" }, "false", /reached">Stopped</],
    ["was confirmed, and the fan has stopped since", { state: "confirmed" }, "false", undefined],
    ["was confirmed, and the fan was started since", { state: "confirmed", value: "false" }, "true", undefined],
    ["was refused", { state: "rejected", text: "Nobody is home" }, "false", /class="error".*Nobody is home/],
  ];
  for (const [request, command, fanTimerActive, expected] of cases) {
    it(`shows ${expected ? "the progress" : "nothing"} of a request that ${request}`, () => {
      const outcome = outcomeOf({ value: "true", text: null, ...command }, fanTimerActive);
      if (expected) assert.match(outcome, expected);
      else assert.equal(outcome, "");
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
