import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TenantId } from "../../src/model/ids.ts";
import { OwnThings } from "../../src/own-things/own-things.ts";
import { type ThingPlace, thingReading } from "../../src/own-things/thing-reading.ts";

/** A tenant with so many links, each with so many things, that counts the links whose things are read. */
function madeLinks(links: number, thingsOfEach: number) {
  const read: number[] = [];
  const devices = Array.from({ length: links }, (_, nth) => ({ id: nth + 1, userId: nth + 1 }));
  const tx = {
    devices: {
      page: async (_: unknown, { afterId }: { readonly afterId: number }, limit: number) =>
        devices.filter(({ id }) => id > afterId).slice(0, limit),
    },
    things: {
      async ofDevices(of: typeof devices, { afterDevice, afterThing }: ThingPlace, limit: number) {
        read.push(of.length);
        const ids = Array.from({ length: thingsOfEach }, (_, nth) => `t_${nth}`);
        const rows = of.flatMap(({ id, userId }) => ids.map((thingId) => ({ deviceId: id, userId, thingId })));
        return rows
          .filter(
            ({ deviceId, thingId }) => deviceId > afterDevice || (deviceId === afterDevice && thingId > afterThing),
          )
          .map((row) => ({ ...row, source: "nest", kind: "light", descriptor: "{}", state: "{}", goneMs: null }))
          .slice(0, limit);
      },
    },
  };
  const store = { read: (body: (given: typeof tx) => unknown) => body(tx) };
  const { page } = thingReading(store as never, new OwnThings({} as never));
  const source = "nest";
  const pages = async (most: number) => {
    const sizes: number[] = [];
    const seen: string[] = [];
    for (let place: ThingPlace | undefined = { afterDevice: 0, afterThing: "", source }; place; ) {
      const found: Awaited<ReturnType<typeof page>> = await page(
        { kind: "enterprise", tenantId: 1 as TenantId },
        place,
        most,
      );
      sizes.push(found.things.length);
      seen.push(...found.things.map(({ deviceId, thingId }) => `${deviceId} ${thingId}`));
      place = found.next;
    }
    assert.equal(new Set(seen).size, links * thingsOfEach, "each thing is on one page");
    return { sizes, read };
  };
  return { pages };
}

describe("a page of things", () => {
  it("reads the things of few links when those fill it", async () => {
    const { sizes, read } = await madeLinks(150, 6).pages(50);
    assert.deepEqual(sizes, new Array(18).fill(50));
    assert.ok(
      read.every((links) => links <= 20),
      `it has read things of ${read.join(", ")} links`,
    );
  });

  it("is filled with the things of more links when those have few", async () => {
    assert.deepEqual((await madeLinks(150, 1).pages(50)).sizes, [50, 50, 50]);
    assert.deepEqual((await madeLinks(99, 1).pages(200)).sizes, [99]);
  });

  it("ends after the things of a hundred links, full or not", async () => {
    const { sizes, read } = await madeLinks(250, 0).pages(50);
    assert.deepEqual(sizes, [0, 0, 0]);
    assert.deepEqual(read, [20, 80, 20, 80, 20, 30]);
  });
});
