import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BadParameter } from "../../src/model/errors.ts";
import { consolePages } from "../../src/outlets/console/pages.ts";
import type { OperatorBrowser } from "../operators/operator-browser.ts";
import { eventually } from "../stories/world.ts";
import { pageText } from "./administration-world.ts";
import { addressesOf, fullWorld, furtherAddresses } from "./full-world.ts";

const act = (operator: OperatorBrowser, command: string, input: Readonly<Record<string, string>>) =>
  operator.send("/console/do", { act: command, to: "/console", ...input });

describe("every page", () => {
  it("opens for an owner, shows hostile names as text, a viewer no button, and a stranger nothing", async (t) => {
    const made = await fullWorld(t);
    const addresses = addressesOf(made);
    assert.deepEqual(
      consolePages.map(({ path }) => path).filter((path) => addresses[path] === undefined),
      [],
      "a page that this test and the matrix of looks do not know",
    );
    const owner = await made.owner();
    const all = [...Object.values(addresses), ...furtherAddresses(made)];
    for (const path of all) assert.ok(!(await pageText(owner, path)).includes("<b>Voice"), path);
    const viewer = await made.invited("vera", { role: "viewer" });
    for (const path of all.filter((one) => !/^\/(operators\/|sessions)/.test(one))) {
      const text = await pageText(viewer, path);
      assert.ok(!text.includes('type="hidden" name="act"'), `${path} has a form for a viewer`);
    }
    const stranger = await made.invited("max", { role: "tenantAdmin", tenant: ["Other"] });
    const mine = all.filter((path) => /^\/(homes|things|devices|events|alerts|requests)/.test(path));
    for (const path of mine) {
      const answer = await stranger.get(`/console${path}`);
      const text = await answer.text();
      assert.ok(!/Maple Street|&lt;b&gt;Voice|request-1"/.test(text), `${path} shows another tenant`);
    }
  });

  it("of things lists those of all users of a tenant or of all tenants, page by page, with filters", async (t) => {
    const made = await fullWorld(t);
    const { user, house, run } = made;
    const owner = await made.owner();
    await run("device-type set", { type: "Lamp", tenant: "Story", template: "lamp" });
    const other = await run("user add", { tenant: "Other", name: "otto", password: "correct horse" });
    await run("device add", { user: String(other.userId), name: "Far lamp", type: "Lamp" });
    await run("device-type set", { type: "Lamp", tenant: "Other", template: "lamp" });
    interface Listed {
      readonly thingId: string;
      readonly userId: number;
      readonly userName: string;
      readonly kind: string;
      readonly source: string;
    }
    const read = async (filter: object = {}, pageSize = "2") => {
      const found: Listed[] = [];
      let cursor: string | undefined;
      do {
        const { things, ...next } = await run("home things", {
          "page-size": pageSize,
          ...filter,
          ...(cursor && { cursor }),
        });
        assert.ok(things.length <= Number(pageSize));
        found.push(...things);
        cursor = next.cursor;
      } while (cursor !== undefined);
      return found;
    };
    const ids = (found: readonly Listed[]) => found.map(({ thingId }) => thingId).toSorted();
    const ofUser: readonly Listed[] = (await run("home things", { user })).things;
    const all = await read();
    assert.deepEqual(ids(await read({ tenant: "Story" })), ids(ofUser));
    assert.ok(ofUser.some(({ source }) => source === "own") && ofUser.some(({ source }) => source === "nest"));
    const foreign = all.filter(({ userId }) => userId === other.userId);
    assert.deepEqual([all.length, foreign.length, foreign[0]?.userName], [ofUser.length + 1, 1, "otto"]);
    assert.equal(new Set(ids(all)).size, all.length, "no thing is listed twice");
    assert.deepEqual(ids(await read({}, "200")), ids(all));
    const alarms = ofUser.filter(({ kind }) => kind === "alarm");
    assert.deepEqual(ids(await read({ kind: "alarm" })), ids(alarms));
    assert.deepEqual(ids(await read({ user, kind: "alarm" }, "1")), ids(alarms));
    assert.deepEqual(ids(await read({ state: "smoke.state=clear" })), ids(alarms));
    assert.deepEqual(await read({ state: "smoke.state=alarm" }), []);
    assert.deepEqual(ids(await read({ filter: "FAR" })), ids(foreign));
    assert.deepEqual(await read({ stale: true }), []);
    for (const [option, value] of [
      ["state", "smoke"],
      ["state", "smoke.none=1"],
      ["cursor", "x"],
      ["cursor", "1.99999999999.t"],
    ] as const) {
      await assert.rejects(read({ [option]: value }), BadParameter, `${option} ${value}`);
    }

    const page = await pageText(owner, "/things");
    assert.match(page, /Things of all users.*otto/s);
    assert.match(await pageText(owner, "/things?state=smoke.state%3Dalarm"), /No thing fits/);
    assert.match(await pageText(owner, "/things?state=odd"), /role="alert"/);
    const stranger = await made.invited("maja", { role: "tenantAdmin", tenant: ["Other"] });
    const theirs = await stranger.call("GET", "/things");
    assert.deepEqual(ids(theirs.body.things), ids(foreign));
    assert.equal((await stranger.call("GET", `/things?user=${user}`)).status, 404);
    assert.equal((await stranger.call("GET", "/things?tenant=Story")).status, 404);

    house.simulator.endAccess(house.accountId);
    await eventually(t.signal, async () => {
      assert.deepEqual(ids(await read({ stale: true })), ids(ofUser.filter(({ source }) => source === "nest")));
    });
    assert.match(await pageText(owner, "/things?stale=true"), /Unknown now/);
  });

  it("of a device has traits, attributes by thing, the index map, watchers, and writes for those who may", async (t) => {
    const made = await fullWorld(t);
    const { user, lamp, house, run } = made;
    const owner = await made.owner();
    const linked = await pageText(owner, `/devices/${user}/${made.deviceId}`);
    assert.match(linked, /<h2>Things<\/h2>.*Run fan.*<h2>Attributes<\/h2>.*<h2>Index map<\/h2>/s);
    assert.match(linked, /d\.structures\[1\]\.d\.thermostats\[1\]/);
    const own = await pageText(owner, `/devices/${user}/${lamp}`);
    assert.match(own, /1 change<\/span>/, "the strip of the last 24 hours");
    assert.match(own, /When .* power is &quot;on&quot;.*A webhook/s);
    const written = await act(owner, "home device write", { user, device: String(lamp), set: "power=off\r\nlevel=3" });
    assert.equal(written.status, 303, await written.text());
    const shown = await run("home device show", { user, device: String(lamp) });
    const values = shown.attributes.map((one: { name: string; value: string }) => `${one.name}=${one.value}`);
    assert.deepEqual(values.toSorted(), ["level=3", "power=off"]);
    const { changes } = await run("home device history", { user, device: String(lamp) });
    assert.equal(changes.at(-1).cause.by, "administrator");
    const bad = await act(owner, "home device write", { user, device: String(lamp), set: "power" });
    assert.equal(bad.status, 400);
    const fixed = await act(owner, "home device write", { user, device: String(made.deviceId), set: "o.total=1" });
    assert.equal(fixed.status, 404, "an attribute that a linked account does not have");
    const viewer = await made.invited("vera", { role: "viewer" });
    assert.equal((await act(viewer, "home device write", { user, device: String(lamp), set: "power=on" })).status, 403);
    const stranger = await made.invited("max", { role: "tenantAdmin", tenant: ["Other"] });
    assert.equal(
      (await act(stranger, "home device write", { user, device: String(lamp), set: "power=on" })).status,
      404,
    );
    const other = await run("user list", {});
    const foreign = other.users.find((one: { userId: number }) => String(one.userId) !== user).userId;
    const crossed = { user: String(foreign), device: String(lamp), set: "power=on" };
    assert.equal((await act(owner, "home device write", crossed)).status, 404, "a device of another user");
    assert.match(await pageText(owner, `/things?user=${user}&kind=alarm`), /<bdi>[^<]*<\/bdi><\/a>/);
    assert.match(await pageText(owner, `/things?user=${user}&name=nowhere`), /No thing fits/);
    assert.equal((await house.service.parts.devices.list(house.userId)).length, 2);
  });
});
