import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findInHomes } from "../../src/cli/nouns/home/home-find.ts";
import type { PageContext } from "../../src/outlets/console/console-page.ts";
import { search } from "../../src/outlets/console/pages/search.ts";
import { pageText } from "./administration-world.ts";
import { fullWorld } from "./full-world.ts";

describe("the search", () => {
  it("finds things and devices by id and name, and alerts by id, within the operator's tenants", async (t) => {
    const made = await fullWorld(t);
    const { user, alert, run, house } = made;
    const lamp = String(await house.addLamp("Reading lamp"));
    const { things } = await run("home things", { user });
    const thermostat = things.find(({ kind }: { kind: string }) => kind === "thermostat");
    await run("device-type set", { type: "Lamp", tenant: made.tenant, template: "lamp" });
    const own = (await run("home things", { user, filter: "Reading" })).things[0];
    assert.match(own.thingId, /^t_/);
    const owner = await made.owner();
    const viewer = await made.invited("vera", { role: "viewer" });
    const stranger = await made.invited("max", { role: "tenantAdmin", tenant: ["Other"] });
    const device = `/console/devices/${user}/${lamp}`;
    const ofHouse = `/console/devices/${user}/${thermostat.deviceId}#${thermostat.thingId}`;
    for (const [text, address] of [
      [thermostat.thingId, ofHouse],
      [thermostat.name.toUpperCase().slice(0, 4), ofHouse],
      [own.thingId, `${device}#${own.thingId}`],
      [lamp, `href="${device}"`],
      ["reading", `href="${device}"`],
      [alert, `/console/alerts/${user}/${alert}"`],
    ] as const) {
      const path = `/search?q=${encodeURIComponent(text)}`;
      assert.ok((await pageText(owner, path)).includes(address), `an owner finds ${text}`);
      assert.ok((await pageText(viewer, path)).includes(address), `a viewer finds ${text}`);
      assert.ok(!(await pageText(stranger, path)).includes(address), `a stranger finds ${text}`);
      assert.deepEqual((await stranger.call("GET", `/found?text=${encodeURIComponent(text)}`)).body, {
        things: [],
        devices: [],
        alerts: [],
        hasMore: false,
        areAllCompared: true,
      });
    }
    assert.equal((await stranger.call("GET", `/found?text=x&tenant=${made.tenant}`)).status, 404);
    assert.equal((await owner.call("GET", "/found?text=%20")).status, 400);
    assert.match(await pageText(owner, `/search?q=${"9".repeat(12)}`), /Nothing that you may see/);
    assert.equal((await owner.get("/console/search?q=x&tenant=nowhere")).status, 200);
  });

  it("finds the last of many names, and says when more have the name", async (t) => {
    const made = await fullWorld(t);
    const { store } = made.house.service.parts;
    const { tenantId } = await made.house.service.parts.identity.findUser(made.house.userId);
    const other = await made.run("user add", { tenant: "Other", name: "otto", password: "correct horse" });
    const { deviceId } = await made.run("device add", { user: String(other.userId), name: "Attic fan", type: "Lamp" });
    await store.transaction(async (tx) => {
      const typeId = (await tx.devices.findType("Lamp"))!;
      const growth = { names: 0, bytes: 0, isErasing: false };
      const row = { userId: made.house.userId, typeId, name: "Filler", room: null, lastTimeMs: 1, growth };
      await tx.devices.addOwn(
        tenantId,
        Array.from({ length: 1_600 }, () => row),
      );
    });
    const { tenantId: otherId } = (await made.run("tenant list")).tenants.find(
      ({ name }: { name: string }) => name === "Other",
    );
    const owner = await made.owner();
    const all = await pageText(owner, "/search?q=attic");
    assert.ok(all.includes(`/console/devices/${other.userId}/${deviceId}`));
    assert.doesNotMatch(all, /Not all names were compared|have this name/);
    const many = await made.run("home find", { text: "filler" });
    assert.deepEqual([many.devices.length, many.hasMore, many.areAllCompared], [10, true, true]);
    assert.match(await pageText(owner, "/search?q=filler"), /More things or devices have this name: write more of it/);
    assert.doesNotMatch(await pageText(owner, `/search?q=filler&tenant=${otherId}`), /More things or devices/);
    assert.ok((await pageText(owner, `/search?q=${deviceId}`)).includes("Attic fan"), "an id is found everywhere");
  });

  it("never says that nothing has a name while some names were not compared", async () => {
    const none = { things: [], devices: [], alerts: [], hasMore: false, areAllCompared: false };
    const lists = { users: [], clients: [], tenants: [], links: [], operators: [], ...none };
    const context = {
      tenants: [1, 2],
      tenant: undefined,
      parameter: (name: string) => (name === "q" ? "attic" : undefined),
      nowMs: 0,
      wants: () => true,
      address: (path: string) => path,
      call: async () => lists,
      callIfAllowed: async () => undefined,
    } as unknown as PageContext;
    const { found } = await search.render(context);
    assert.match(found!.text, /Nothing was found.*Not all names were compared.*choose a tenant/s);
    assert.doesNotMatch(found!.text, /Nothing that you may see/);
    assert.match(findInHomes.toText!(none, {}, 80), /^Nothing was found\.\n\nNot all names were compared/);
    assert.equal(findInHomes.toText!({ ...none, areAllCompared: true }, {}, 80), "Nothing has this id or name.");
  });
});
