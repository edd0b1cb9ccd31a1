import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { ChildServer } from "../../bench/ecosystems/child-server.ts";
import { addUsers } from "../../bench/users.ts";
import type { Credential } from "../../src/ecosystems/credential.ts";
import type { TenantId, UserId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";
import type { Parts } from "../../src/service/parts.ts";
import { type HostileKind, hostileKinds, type LinksOrder, type LinksReply } from "./budgets/hostile-links-process.ts";
import { medianOf, megabytes, type Sample, shownSamples } from "./budgets/memory-samples.ts";
import { ServiceUnderTest } from "./budgets/service-under-test.ts";
import { isThisTree, makeTemplate, tree } from "./budgets/template.ts";

/**
 * Hundreds of links, all hostile, for five minutes: memory stays flat, and below the documented bounds.
 *
 * `KIND=home-assistant`, `nest` or `google` chooses one kind, `LINKS=n` another number of links and `MINUTES=n` another
 * time. `BREEZEWAY_UNDER_TEST=<folder>` attacks the service of another checkout: then nothing is asserted.
 */
const links = Number(process.env.LINKS ?? 500);
const minutes = Number(process.env.MINUTES ?? 5);
const kinds = hostileKinds.filter((kind) => kind === (process.env.KIND ?? kind));
const program = new URL("./budgets/hostile-links-process.ts", import.meta.url).href;
const sampleEveryMs = 5_000;
const linkedAtOnce = 20;
/** By how much the last minute may exceed the second one: V8 grows its heap in steps. */
const margin = { share: 0.1, bytes: 20_000_000 };

for (const kind of kinds) {
  describe(`${links} hostile links of the kind ${kind}, for ${minutes} minutes`, () => {
    it("do not make memory grow", { timeout: (minutes + 10) * 60_000 }, async (t) => {
      const attackers = await ChildServer.start<LinksOrder, LinksReply>(program, [String(links)]);
      t.after(() => attackers[Symbol.asyncDispose]());
      const template = await makeTemplate("SQLite, direct", attackers.url);
      t.after(() => template.stop());
      const settings = await template.copy();
      const { address } = await attackers.request({ step: "address" });
      const tenantId = template.attacker.tenantId as TenantId;
      await template.open(settings, (parts) => linkAll(parts, tenantId, kind, address!));
      const service = await ServiceUnderTest.start(settings);
      t.after(() => service.stop());
      const empty = await service.liveMemory();
      await pause(10_000);
      await attackers.request({ kind });
      const samples = await sampleFor(service, minutes * 60_000);
      const { played = {} } = await attackers.request({ step: "played" });

      const bounds = boundsOfLink();
      const bound = empty.rssBytes + links * Object.values(bounds).reduce((sum, bytes) => sum + bytes, 0);
      const shown = Object.entries(bounds).map(([name, bytes]) => `${name} ${bytes.toLocaleString("en")}`);
      const minutesCompared = [Math.min(1, minutes - 1), Math.ceil(minutes) - 1] as const;
      const compared = (["rssBytes", "heapBytes"] as const).map((what) => {
        const [second, last] = minutesCompared.map((minute) => medianOf(samples, what, minute));
        return { what: what === "rssBytes" ? "RSS" : "live objects", second: second!, last: last! };
      });
      const medians = compared.map(
        ({ what, second, last }) => `${what} of the second minute${megabytes(second)}, of the last${megabytes(last)}`,
      );
      const died = service.isAlive ? "" : `THE SERVICE DIED: ${await service.ended}\n`;
      process.stdout.write(`
${links} hostile links (${kind})${isThisTree ? "" : `, the service of ${tree}`}
${shownSamples(samples)}
${died}empty${megabytes(empty.rssBytes)}; ${medians.join("; ")}; bound${megabytes(bound)} (${links} x ${shown.join(" + ")} bytes)
played ${Object.entries(played)
        .map(([what, count]) => `${count}x ${what}`)
        .join(", ")}
`);
      if (!isThisTree) return;
      assert.equal(died, "");
      for (const { what, second, last } of compared) {
        const most = second * (1 + margin.share) + margin.bytes;
        assert.ok(last <= most, `${what} grew from${megabytes(second)} in the second minute to${megabytes(last)}`);
      }
      const largest = Math.max(...samples.map(({ rssBytes }) => rssBytes));
      assert.ok(largest <= bound, `${megabytes(largest)} exceed the documented bounds of${megabytes(bound)}`);
    });
  });
}

/** The documented limits of what a node holds for one link. */
function boundsOfLink(): Readonly<Record<string, number>> {
  const isOfLink = (name: string) => name === "streamBytesAtOnce" || /Bytes(Per|Of)(Link|Home)$/.test(name);
  return Object.fromEntries(Object.entries(limits).filter(([name]) => isOfLink(name)));
}

async function linkAll(parts: Parts, tenantId: TenantId, kind: HostileKind, address: string): Promise<void> {
  const { store, federation } = parts;
  const users = await store.transaction((tx) => addUsers(tx, tenantId, links));
  const linkOne: Readonly<Record<HostileKind, (userId: UserId, place: number) => Promise<unknown>>> = {
    "home-assistant": (userId, place) => federation.link(userId, "home", `many-${place}`, address),
    nest: (userId, place) => federation.link(userId, "hostile", `many-${place}`),
    google(userId, place) {
      const credential: Credential = { accessToken: `many-${place}`, refreshToken: `many-${place}` };
      return federation.link(userId, "google", credential);
    },
  };
  const waiting = users.entries();
  const linkSome = async () => {
    for (const [place, userId] of waiting) await linkOne[kind](userId, place);
  };
  await Promise.all(Array.from({ length: linkedAtOnce }, linkSome));
}

/** Samples every few seconds, until the time is up or the service has died. */
async function sampleFor(service: ServiceUnderTest, forMs: number): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  const startedMs = performance.now();
  while (service.isAlive && performance.now() - startedMs < forMs) {
    const askedMs = performance.now();
    const memory = await service.liveMemory();
    const nowMs = performance.now();
    if (memory.rssBytes > 0) samples.push({ ...memory, atMs: askedMs - startedMs, tookMs: nowMs - askedMs });
    await pause(Math.max(0, sampleEveryMs - (nowMs - askedMs)));
  }
  return samples;
}
