import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { describe, it } from "node:test";
import { longSuiteOn } from "../stories/world.ts";
import { madeWorld, openAll } from "./sealed-world.ts";

for (const database of longSuiteOn("sqlite")) {
  describe(`the key of a store on ${database}`, () => {
    it("is rotated while all values stay readable, and can be removed afterwards", { timeout: 60_000 }, async (t) => {
      const { folder, keyFile, parts, run } = await madeWorld(t, database, 250);
      const [{ keyId: old }] = (await run("key list")).keys;
      if (database === "postgres") {
        await assert.rejects(run("key rotate"), /The other nodes must know the new key first\. Run: breezeway key add/);
        await run("key add");
        const roles = (await run("key list")).keys.map(({ role, values }: { role: string; values: number }) => [
          role,
          values,
        ]);
        assert.deepEqual(roles, [
          ["current", 250],
          ["next", 0],
        ]);
      }
      const nodes = database === "postgres" ? { nodes: 0 } : {};
      const { keyId, resealed } = await run("key rotate");
      assert.notEqual(keyId, old);
      assert.equal(resealed, 250);
      assert.equal(await openAll(parts, keyFile), 250);
      assert.deepEqual((await run("key list")).keys, [
        { keyId, role: "current", values: 250, ...nodes },
        { keyId: old, role: "old", values: 0, ...nodes },
      ]);
      assert.deepEqual(await run("key prune"), { removed: [old] });
      assert.equal(readFileSync(keyFile, "utf8").trim().split("\n").length, 1);
      assert.equal(await openAll(parts, keyFile), 250);
      assert.deepEqual(await run("key prune"), { removed: [] });
      if (database === "postgres") {
        await assert.rejects(
          run("backup", undefined, { to: folder }),
          /This store is PostgreSQL, which is backed up with its own tools: pg_dump/,
        );
      } else await run("backup", undefined, { to: folder });
      const acts = (await parts.identity.audit.list({ limit: 10 })).map(({ detail }) => detail.command);
      const expected = database === "postgres" ? ["key add"] : ["backup"];
      for (const act of [...expected, "key rotate", "key prune"]) assert.ok(acts.includes(act), act);
    });

    it("continues an interrupted rotation, and keeps both keys until it is complete", {
      timeout: 60_000,
    }, async (t) => {
      const { keyFile, parts, run } = await madeWorld(t, database, 450);
      if (database === "postgres") await run("key add");
      const breakOff = () => {
        throw new Error("broken off");
      };
      await assert.rejects(run("key rotate", breakOff), /broken off/);
      assert.equal(await openAll(parts, keyFile), 450);
      const standing = (await run("key list")).keys;
      assert.ok(
        standing.every(({ values }: { values: number }) => values > 0),
        JSON.stringify(standing),
      );
      await assert.rejects(run("key prune"), /A rotation isn't over yet\. Finish it with: breezeway key rotate/);
      const { keyId } = await run("key rotate");
      assert.equal(keyId, standing[0].keyId);
      assert.deepEqual(await run("key prune"), { removed: [standing[1].keyId] });
      assert.equal(await openAll(parts, keyFile), 450);
    });

    it("is not rotated past a value that was changed: the refusal says whose it is", { timeout: 60_000 }, async (t) => {
      const { keyFile, parts, run } = await madeWorld(t, database, 10);
      if (database === "postgres") await run("key add");
      const [first] = await parts.store.read((tx) => tx.sealedValues.after(undefined, 1));
      const { sealed } = first!;
      const changed = sealed.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
      await parts.store.transaction((tx) => tx.sealedValues.replace(first!, changed));
      await assert.rejects(run("key rotate"), /of user or tenant \d+ can't be opened with any key of the key file/);
      await parts.store.transaction((tx) => tx.sealedValues.replace({ ...first!, sealed: changed }, sealed));
      await run("key rotate");
      assert.equal(await openAll(parts, keyFile), 10);
    });

    it("is required at the start, and both keys are during a rotation", { timeout: 60_000 }, async (t) => {
      const { keyFile, parts, run, open } = await madeWorld(t, database, 250);
      if (database === "postgres") await run("key add");
      const firstLine = () => `${readFileSync(keyFile, "utf8").split("\n")[0]}\n`;
      const oldKey = firstLine();
      await assert.rejects(
        run("key rotate", () => assert.fail("broken off")),
        /broken off/,
      );
      const newKey = firstLine();
      await parts.close();
      for (const lone of [newKey, oldKey]) {
        writeFileSync(keyFile, lone, { mode: 0o600 });
        await assert.rejects(
          open(),
          /holds key \S+, but \d+ values? in this store (is|are) sealed with key \S+\. Put that key back/,
        );
      }
    });
  });
}
