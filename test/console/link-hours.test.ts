import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { blindStrip, linkStrip, seenShare, unknownWords } from "../../src/outlets/console/pages/link-hours.ts";
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
});
