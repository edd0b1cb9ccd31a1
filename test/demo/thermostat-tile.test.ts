import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { CommandReceipt, Thing } from "../../sdk/src/index.ts";
import type { ButtonOptions } from "../../src/outlets/console/tiles/button.ts";
import { thermostatTile } from "../../src/outlets/console/tiles/thermostat-tile.ts";
import { html } from "../../src/web/html.ts";
import { thermostat, withPlainTimes } from "./things.ts";

const asOfMs = Date.UTC(2026, 0, 5, 12, 30);

describe("a thermostat's tile", () => {
  it("shows temperature, humidity, mode, targets and fan", () => {
    const { text } = tileOf(thermostat());
    assert.match(text, /class="says">21\.5 °C, 45 % humidity</);
    assert.match(text, /<p>Heat, target 20 °C</);
    assert.match(text, /Fan off/);
    const modes: readonly (readonly [object, RegExp])[] = [
      [{ mode: "heatCool", heatCelsius: 19, coolCelsius: 24 }, /Heat and cool, target 19 °C to 24 °C</],
      [{ mode: "eco", ecoHeatCelsius: 12.5, ecoCoolCelsius: 24.5 }, /Eco, target 12\.5 °C to 24\.5 °C</],
      [{ mode: "off" }, /<p>Off</],
      [{ mode: "heat", action: "heating" }, /Heat, target 20 °C · heating now</],
      [{ mode: null }, /<p>Mode unknown</],
    ];
    for (const [values, expected] of modes) assert.match(tileOf(thermostat({ ...values })).text, expected);
    const runs = tileOf(thermostat({}, { active: true, untilMs: Date.UTC(2026, 0, 5, 12, 45) }));
    assert.match(runs.text, /class="tile thermostat is-running".*Fan runs .*data-until="2026-01-05T12:45:00\.000Z"/s);
    assert.match(tileOf(thermostat({}, { active: null })).text, /Fan unknown/);
  });

  it("has a button for each mode that the thermostat can be set to, and marks the mode in force", () => {
    const { buttons } = tileOf(thermostat());
    const modes = [...buttons].filter(([, { action }]) => action.startsWith("mode-"));
    assert.deepEqual(
      modes.map(([label, { action, isPressed }]) => [label, action, isPressed]),
      [
        ["Off", "mode-off:t_thermostat", false],
        ["Heat", "mode-heat:t_thermostat", true],
        ["Cool", "mode-cool:t_thermostat", false],
        ["Heat and cool", "mode-heatCool:t_thermostat", false],
        ["Eco", "mode-eco:t_thermostat", false],
      ],
    );
    assert.equal(buttons.get("Warmer")?.action, "warmer:t_thermostat");
    assert.equal(buttons.get("Run fan")?.action, "run-fan:t_thermostat");
    assert.equal(tileOf(thermostat({}, { active: true })).buttons.get("Stop fan")?.action, "stop-fan:t_thermostat");
  });

  it("disables the buttons that can't have an effect, and says why", () => {
    for (const mode of ["off", "eco"]) {
      const { text, buttons } = tileOf(thermostat({ mode }));
      const reasons = ["Cooler", "Warmer", "Heat", "Run fan"].map((label) => buttons.get(label)?.disabledBy);
      assert.deepEqual(reasons, ["t_thermostat-no-target", "t_thermostat-no-target", undefined, undefined], mode);
      assert.match(text, /id="t_thermostat-no-target">This mode has no target to change\.</);
    }
    const fanless = tileOf(thermostat({}, { active: false }, false));
    assert.equal(fanless.buttons.get("Run fan")?.disabledBy, "t_thermostat-fan");
    assert.match(fanless.text, /id="t_thermostat-fan">No fan</);
  });

  it("shows nothing as current while the thermostat is offline, does not tell whether it is, or is stale", () => {
    const cases: readonly (readonly [Thing, number | undefined, string, string])[] = [
      [thermostat({ available: false }, { active: true }), undefined, "Offline", "12:03:04"],
      [thermostat({ available: null }, { active: true }), undefined, "Unknown", "12:03:04"],
      [thermostat({}, { active: true }), asOfMs, "Unknown", "12:30:00"],
      [thermostat({ available: false }, { active: true }), asOfMs, "Unknown", "12:30:00"],
    ];
    for (const [thing, staleMs, word, time] of cases) {
      const { text, buttons } = tileOf(thing, { asOfMs: staleMs });
      assert.ok(text.includes(`<p class="says">${word}</p>`), text);
      assert.ok(text.includes(`21.5 °C, 45 % humidity, mode Heat, target 20 °C, the fan ran at ${time} UTC`), text);
      assert.doesNotMatch(text, /is-running|data-until|online/);
      assert.equal([...buttons.values()].filter(({ isPressed }) => isPressed).length, 0);
    }
    const { text, buttons } = tileOf(thermostat({ available: false, mode: "off" }));
    assert.match(text, /id="t_thermostat-offline">The thermostat is offline\.</);
    for (const { disabledBy } of buttons.values()) assert.equal(disabledBy, "t_thermostat-offline");
  });

  it("shows the unit of the thermostat, and at most one decimal", () => {
    const inFahrenheit = thermostat({ mode: "heatCool", heatCelsius: 20, coolCelsius: 24.44 });
    const { thermostat: trait } = inFahrenheit.traits;
    const thing = {
      ...inFahrenheit,
      traits: { ...inFahrenheit.traits, thermostat: { ...trait!, capabilities: { unit: "F" } } },
    };
    assert.match(tileOf(thing as Thing).text, /70\.7 °F, 45 % humidity.*target 68 °F to 76 °F/s);
    const exact = thermostat({ targetCelsius: 20.166 });
    assert.match(tileOf(exact).text, /target 20\.2 °C/);
    assert.match(outcomeOf({ state: "confirmed" }, undefined, thing as Thing), /Warmer by 0\.9 °F/);
  });

  const receipts: readonly (readonly [string, Partial<CommandReceipt>, RegExp])[] = [
    ["waits", { state: "queued" }, /"">Sent<.*"">Accepted<.*"">Confirmed</s],
    ["was sent", { state: "sending" }, /reached">Sent<.*"">Accepted<.*"">Confirmed</s],
    ["was accepted, but not confirmed yet", { state: "accepted" }, /reached">Accepted<.*"">Confirmed</s],
    ["was confirmed", { state: "confirmed" }, /Warmer by 0\.5 °C, 12:03:04 UTC<.*reached">Confirmed</s],
    [
      "makes a fan slower",
      { state: "confirmed", trait: "fan", command: "adjustPercent", params: { deltaPercent: -10 } },
      /Slower by 10 %/,
    ],
    [
      "makes a light brighter",
      { state: "confirmed", trait: "brightness", command: "adjust", params: { deltaPercent: 5 } },
      /Brighter by 5 %/,
    ],
    [
      "was refused",
      { state: "rejected", error: { code: "notHome", text: "Nobody is." } },
      /class="error".*Nobody is\./s,
    ],
    [
      "has an unknown outcome",
      { state: "expired", error: { code: "noAnswer", text: "It may." } },
      /"error".*It may\./s,
    ],
    ["was not sent", { state: "expired", error: { code: "notSent", text: "Too late." } }, /class="error".*Too late\./s],
    ["had no effect", { state: "contradicted" }, /class="error".*still showed another state/s],
  ];
  for (const [command, receipt, expected] of receipts) {
    it(`shows the receipt of a command that ${command}`, () => {
      assert.match(outcomeOf(receipt), expected);
      const whileStale = outcomeOf(receipt, asOfMs);
      if (expected.source.includes("error")) assert.match(whileStale, expected);
      else assert.equal(whileStale, "", "progress would be out of date");
    });
  }
});

interface TileParts {
  readonly receipt?: CommandReceipt;
  readonly asOfMs?: number | undefined;
}

/** The tile's HTML, and its buttons by label. */
function tileOf(thing: Thing, { receipt, asOfMs: staleMs }: TileParts = {}) {
  const buttons = new Map<string, ButtonOptions & { readonly action: string }>();
  const button = (label: string, action: string, options: ButtonOptions = {}) => {
    buttons.set(label, { ...options, action });
    return html``;
  };
  const { text } = thermostatTile({ thing, receipt, isRefused: false, button, asOfMs: staleMs });
  return { text: withPlainTimes(text), buttons };
}

function outcomeOf(receipt: Partial<CommandReceipt>, staleMs?: number, thing = thermostat()): string {
  const command = { trait: "thermostat", command: "adjustTarget", params: { deltaCelsius: 0.5 }, error: null };
  const requestedTime = Date.UTC(2026, 0, 5, 12, 3, 4);
  const { text } = tileOf(thing, {
    receipt: { ...command, requestedTime, ...receipt } as CommandReceipt,
    asOfMs: staleMs,
  });
  return /role="status">(.*?)<\/div>/s.exec(text)![1]!;
}
