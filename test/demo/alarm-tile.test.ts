import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { alarmLook, alarmTile } from "../../src/outlets/console/tiles/alarm-tile.ts";
import { alarm, thing, trait, withPlainTimes } from "./things.ts";

const clear = { state: "clear" };
const asOfMs = Date.UTC(2026, 0, 5, 12, 30);

describe("an alarm's tile", () => {
  it("is green only while both sensors answer and are clear", () => {
    assert.deepEqual(lookOf(alarm(clear, clear)), ["green", "All clear"]);
    const offline = { ...clear, available: false };
    const untold = { ...clear, available: null };
    assert.deepEqual(lookOf(alarm(offline, clear)), ["gray", "Smoke unknown, CO clear"]);
    assert.deepEqual(lookOf(alarm(clear, untold)), ["gray", "Smoke clear, CO unknown"]);
    assert.deepEqual(lookOf(alarm(offline, offline)), ["gray", "Offline"]);
    assert.deepEqual(lookOf(alarm({ state: null }, clear)), ["gray", "Smoke unknown, CO clear"]);
    assert.deepEqual(lookOf(alarm(clear, { state: "unknown" })), ["gray", "Smoke clear, CO unknown"]);
    assert.deepEqual(lookOf(thing("alarm", { smoke: trait(clear) })), ["gray", "Smoke clear, CO unknown"]);
  });

  it("says that a sensor is broken, unless the alarm reports danger", () => {
    const broken = { ...clear, available: false, fault: true };
    assert.deepEqual(lookOf(alarm(broken, clear)), ["gray", "Broken: Smoke"]);
    assert.deepEqual(lookOf(alarm(broken, broken)), ["gray", "Broken: Smoke and CO"]);
    assert.deepEqual(lookOf(alarm(broken, { ...clear, state: "alarm" })), ["red", "CO emergency"]);
    const sounding = alarmTile(alarm({ ...broken, state: "alarm" }, clear), undefined).text;
    assert.match(sounding, /alarm red.*says that it is broken.*>Smoke emergency</s);
    assert.doesNotMatch(sounding, /stopped answering/);
    const worn = { ...clear, endOfLife: true, testing: true, muted: true };
    const { text } = alarmTile(alarm(clear, worn), undefined);
    assert.match(text, /alarm green.*· must be replaced · is being tested · is muted.*>All clear</s);
  });

  it("shows the worse of two sensors, and both if they are alike", () => {
    assert.deepEqual(lookOf(alarm({ state: "alarm" }, { state: "warning" })), ["red", "Smoke emergency"]);
    assert.deepEqual(lookOf(alarm({ state: "alarm" }, { state: "alarm" })), ["red", "Smoke and CO emergency"]);
    assert.deepEqual(lookOf(alarm(clear, { state: "warning" })), ["yellow", "CO warning"]);
  });

  it("keeps a last known emergency visible, and everything else becomes unknown", () => {
    const lost = withPlainTimes(alarmTile(alarm({ state: "alarm", available: false }, clear), undefined).text);
    assert.match(lost, /alarm red.*>Smoke emergency<.*The alarm stopped answering at 12:03:04 UTC/s);
    assert.match(
      withPlainTimes(alarmTile(alarm({ state: "alarm" }, clear), asOfMs).text),
      /alarm red.*>Smoke emergency<.*Seen at 12:30:00 UTC/s,
    );
    const stale = withPlainTimes(alarmTile(alarm(clear, clear), asOfMs).text);
    assert.match(stale, /alarm gray.*>Unknown<.*No alarm at 12:30:00 UTC/s);
    assert.doesNotMatch(stale, /All clear|battery/);
  });

  it("shows the battery where it is told, and a low one also while the state is unknown", () => {
    const words = (battery: Parameters<typeof alarm>[2], staleMs?: number) =>
      /Smoke and CO alarm(.*?)</.exec(alarmTile(alarm(clear, clear, battery), staleMs).text)?.[1];
    assert.equal(words({ state: "ok" }), " · battery ok");
    assert.equal(words({ state: null, percent: 80 }), " · battery 80 %");
    assert.equal(words({ state: null }), "");
    assert.equal(words({ state: "ok", available: false }), "");
    assert.equal(words({ state: "low", percent: 9, available: false }), " · battery low, 9 %");
    assert.equal(words({ state: "low" }, asOfMs), " · battery low");
  });
});

function lookOf(shown: ReturnType<typeof alarm>): readonly string[] {
  const { look, word } = alarmLook(shown);
  return [look, word];
}
