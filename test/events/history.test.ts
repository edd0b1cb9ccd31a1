import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { longSuiteOn } from "../stories/world.ts";
import { home, write } from "./made-home.ts";

interface Change {
  readonly name: string;
  readonly value: string | null;
  readonly updateTime: number;
  readonly cause: object;
}

for (const database of longSuiteOn("postgres")) {
  describe(`the history of a device on ${database}`, () => {
    it("is every change, oldest first, by attribute and by time", { timeout: 60_000 }, async (t) => {
      const { world, token, lamp } = await home(t, { database });
      const history = async (query = ""): Promise<readonly Change[]> => {
        const { status, body } = await world.get(`/v3/devices/${lamp}/history${query}`, token);
        assert.equal(status, 200, JSON.stringify(body));
        assert.equal(body.cursor, undefined);
        return body.changes;
      };
      assert.deepEqual(await history(), []);
      await write(world, token, lamp, { power: "on", level: "1" });
      await write(world, token, lamp, { level: "2" });
      await write(world, token, lamp, { power: null });
      const all = await history();
      assert.deepEqual(
        all.map(({ name, value }) => `${name} ${value}`),
        ["power on", "level 1", "level 2", "power null"],
      );
      assert.deepEqual(all[0]?.cause, { by: "client", user: world.userId });
      assert.deepEqual(await history("?attribute=power"), [all[0], all[3]]);
      assert.deepEqual(await history("?attribute=power&attribute=level"), all);
      assert.deepEqual(await history("?attribute=nothing"), []);
      assert.deepEqual(await history(`?from=${all[2]?.updateTime}`), all.slice(2));
      assert.deepEqual(await history(`?to=${all[2]?.updateTime}`), all.slice(0, 2));
      assert.deepEqual(await history(`?from=${all[2]?.updateTime}&to=${all[3]?.updateTime}`), all.slice(2, 3));
      const largest = "9223372036854775807";
      assert.deepEqual(await history(`?from=${largest}`), []);
      assert.deepEqual(await history(`?to=${largest}`), all);
    });

    it("comes in pages that leave nothing out", { timeout: 60_000 }, async (t) => {
      const { world, token, lamp } = await home(t, { database });
      const commits = 25;
      const each = Array.from({ length: 100 }, (_, i) => `a${i}`);
      for (let i = 0; i < commits; i++) {
        await write(world, token, lamp, Object.fromEntries(each.map((name) => [name, `${i}`])));
      }
      const pages: Change[][] = [];
      for (let cursor = ""; ; ) {
        const { body } = await world.get(`/v3/devices/${lamp}/history?cursor=${cursor}`, token);
        pages.push(body.changes);
        if (body.cursor === undefined) break;
        cursor = body.cursor;
      }
      assert.deepEqual(
        pages.map(({ length }) => length),
        [1_000, 1_000, 500],
      );
      assert.deepEqual(
        pages.flat().map(({ name, value }) => `${name} ${value}`),
        Array.from({ length: commits }, (_, i) => each.map((name) => `${name} ${i}`)).flat(),
      );
    });

    it("refuses malformed parameters and foreign devices", { timeout: 60_000 }, async (t) => {
      const { world, token, lamp } = await home(t, { database });
      for (const query of ["from=x", "to=-1", "cursor=!", "from=5&cursor=2", "from=1&from=2"]) {
        const { status, body } = await world.get(`/v3/devices/${lamp}/history?${query}`, token);
        assert.deepEqual([status, body.error], [400, "invalid_request"], query);
      }
      const foreign = await world.addDevice(world.bobId, "Bob's");
      for (const id of [foreign, 999_999, "x"]) {
        for (const what of ["history", "commands"]) {
          const { status, body } = await world.get(`/v3/devices/${id}/${what}`, token);
          assert.deepEqual([status, body.error], [404, "unknown_device"]);
        }
      }
      assert.deepEqual((await world.get(`/v3/devices/${lamp}/commands`, token)).body, { deviceId: lamp, commands: [] });
    });
  });
}
