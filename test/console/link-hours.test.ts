import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { TenantId } from "../../src/model/ids.ts";
import {
  blindStrip,
  linkStrip,
  seenShare,
  stateStrip,
  uncountedWords,
  unknownWords,
} from "../../src/outlets/console/pages/link-hours.ts";
import { countHour, linkStatesSince } from "../../src/service/link-hours.ts";
import { pageText } from "./administration-world.ts";
import { consoleWorld } from "./console-world.ts";

const hour = 3_600_000;

/** The present hour is the last of 24; all others are empty. */
function figures(...hours: readonly (readonly [seen: number, blind: number, unknown: number])[]) {
  const of = (place: 0 | 1 | 2) => [
    ...new Array<number>(24 - hours.length).fill(0),
    ...hours.map((one) => one[place] * hour),
  ];
  return { ms: 0, blindLinks: 0, links: 1, isAll: true, hours: { seenMs: of(0), blindMs: of(1), unknownMs: of(2) } };
}

const bars = (text: string) => [...text.matchAll(/<rect class="(seen|blind|unknown)"/g)].map(([, kind]) => kind);

describe("the strips of links on the overview", () => {
  it("draw unknown time as unknown, in both", () => {
    const shown = figures([0, 0, 1], [0.5, 0.25, 0.25]);
    assert.deepEqual(bars(blindStrip(shown).text), ["unknown", "blind", "unknown"]);
    assert.deepEqual(bars(linkStrip(shown).text), ["unknown", "seen", "blind", "unknown"]);
    assert.match(blindStrip(shown).text, /at most 15 min in an hour\. In 2 hours some of it is unknown\./);
  });

  it("say unknown when nothing is known, and 100 % only for all the time", () => {
    assert.deepEqual([seenShare(figures()), seenShare(figures([0, 0, 1]))], ["unknown", "unknown"]);
    assert.equal(seenShare(figures([1, 0, 0])), "100 %");
    assert.equal(seenShare(figures([1, 0.0001, 0])), "99.9 %");
    assert.match(unknownWords(figures([1, 0, 1])), /60 min unknown/);
    assert.match(unknownWords(figures([1, 0, 0])), /all of it known/);
  });

  it("draw an hour in which links were not counted as unknown, never as none", () => {
    const isCounted = [...new Array<boolean>(21).fill(false), true, true, false];
    const live = { state: "live", hours: [...new Array<null>(21).fill(null), 0, 4, null] };
    const shown = { isCounted, states: [live] };
    const drawn = (state: string, present: number) =>
      [
        ...stateStrip("Live", state, present, shown).text.matchAll(
          /<rect class="(bar|unknown)" x="(\d+)"[^>]*height="(\d+)"/g,
        ),
      ]
        .map(([, look, x, height]) => `${look} ${Number(x) / 4} ${height}`)
        .slice(20);
    assert.deepEqual(drawn("live", 2), ["unknown 20 20", "bar 22 20", "bar 23 10"]);
    assert.deepEqual(drawn("stale", 0), ["unknown 20 20"], "a state that never occurred has none in counted hours");
    assert.match(
      stateStrip("Live", "live", 2, shown).text,
      /Live, by hour: 0 to 4 links\. In 21 hours links were not counted\./,
    );
    assert.match(uncountedWords(shown)!, /In 21 of the last 24 hours they were not/);
    assert.equal(uncountedWords({ ...shown, isCounted: new Array<boolean>(24).fill(true) }), undefined);
  });

  it("are on the page of an operator who has links", async (t) => {
    const { owner, run } = await consoleWorld(t);
    const [tenant] = (await run("tenant list")).tenants;
    await run("client add", { tenant: String(tenant.tenantId), name: "Voice", kind: "enterprise" });
    const text = await pageText(await owner(), "");
    assert.match(text, /Blind time<\/dt>.*aria-label="Blind time by hour/s);
    assert.match(text, /Links that were seen<\/dt>.*<rect class="(seen|blind)"/s);
    const { blind } = await run("activity");
    assert.equal(blind.links, 1);
    assert.equal(blind.hours.seenMs.length, 24);
    const sum = (hours: readonly number[]) => hours.reduce((total, one) => total + one, 0);
    assert.ok(sum(blind.hours.seenMs) + sum(blind.hours.blindMs) > 0);
    assert.equal(sum(blind.hours.unknownMs), 0);
    assert.equal(sum(blind.hours.blindMs), blind.ms);
  });

  it("show the states of links, which one node counts once in an hour", async (t) => {
    const { owner, run, house } = await consoleWorld(t);
    const { parts } = house.service;
    const [tenant] = (await run("tenant list")).tenants;
    while ((await parts.federation.countsOfTenants()).get(tenant.tenantId)?.get("live") !== 1) await setImmediate();
    const hourMs = await countHour(parts);
    assert.equal(await parts.store.transaction((tx) => tx.linkHours.keep(hourMs, [])), false, "counted already");
    assert.equal(await countHour(parts, hourMs - hour), hourMs);
    const counted = (tenantId: TenantId) =>
      parts.store.read((tx) => linkStatesSince(tx, [tenantId], hourMs - 23 * hour, 24));
    const unknown = new Array<null>(23).fill(null);
    assert.deepEqual(await counted(tenant.tenantId), {
      isCounted: [...new Array<boolean>(23).fill(false), true],
      states: [{ state: "live", hours: [...unknown, 1] }],
    });
    assert.deepEqual((await counted((tenant.tenantId + 1) as TenantId)).states, []);
    const { linkStates } = await run("activity");
    assert.equal(linkStates.isCounted.length, 24);
    const text = await pageText(await owner(), "");
    assert.match(
      text,
      /<dt>Live<\/dt>.*aria-label="Live, by hour: 1 to 1 links\. In 2[23] hours links were not counted/s,
    );
    assert.match(text, /Links are counted once an hour\. In 2[23] of the last 24 hours they were not/);
  });
});
