import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Thing } from "../../sdk/src/index.ts";
import type { ButtonOptions } from "../../src/outlets/console/tiles/button.ts";
import { deviceTile } from "../../src/outlets/console/tiles/device-tile.ts";
import { html } from "../../src/web/html.ts";
import { thing, trait } from "./things.ts";

describe("the tile of a light, a switch, a fan or a sensor", () => {
  it("shows its state, and the buttons of what it can do", () => {
    const lamp = tileOf(thing("light", { onOff: trait({ on: true }), brightness: trait({ percent: 50 }) }));
    assert.match(lamp.text, /On, 50 %/);
    assert.deepEqual([...lamp.buttons.keys()], ["Switch off", "25 %", "50 %", "100 %"]);
    assert.equal(lamp.buttons.get("50 %")?.isPressed, true);
    assert.equal(lamp.buttons.get("100 %")?.action, "bright-100:t_light");
    const fan = tileOf(thing("fan", { onOff: trait({ on: false }), fan: trait({ percent: 50 }) }));
    assert.equal(fan.buttons.get("50 %")?.action, "speed-50:t_fan");
    assert.equal(fan.buttons.get("50 %")?.isPressed, false);
    const kettle = tileOf(thing("switch", { onOff: trait({ on: false }) }));
    assert.deepEqual(
      [...kettle.buttons],
      [["Switch on", { id: "power:t_switch", disabledBy: undefined, action: "on:t_switch" }]],
    );
    const sensor = tileOf(thing("sensor", { temperature: trait({ celsius: 19.4 }) }));
    assert.match(sensor.text, /19.4 °C/);
    assert.equal(sensor.buttons.size, 0);
  });

  it("shows nothing as current while it does not answer or the page is stale", () => {
    const lost = thing("light", { onOff: trait({ on: true, available: false }) });
    const offline = tileOf(lost);
    assert.match(offline.text, /id="t_light-says">Offline</);
    assert.equal(offline.buttons.get("Switch off")?.disabledBy, "t_light-says");
    assert.doesNotMatch(offline.text, /is-on/);
    const stale = tileOf(thing("light", { onOff: trait({ on: true }) }), Date.UTC(2026, 0, 5));
    assert.match(stale.text, /id="t_light-says">Unknown</);
    assert.doesNotMatch(stale.text, /is-on/);
  });
});

/** The tile's HTML, and its buttons by label. */
function tileOf(device: Thing, asOfMs?: number) {
  const buttons = new Map<string, ButtonOptions & { readonly action: string }>();
  const button = (label: string, action: string, options: ButtonOptions = {}) => {
    buttons.set(label, { ...options, action });
    return html``;
  };
  const { text } = deviceTile({ thing: device, receipt: undefined, button, asOfMs });
  return { text, buttons };
}
