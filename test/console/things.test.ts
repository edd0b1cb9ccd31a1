import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { consolePages } from "../../src/outlets/console/pages.ts";
import type { OperatorBrowser } from "../operators/operator-browser.ts";
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
