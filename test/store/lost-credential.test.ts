import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openCredential } from "../../src/federation/credential.ts";
import type { UserId } from "../../src/model/ids.ts";
import { dropValue } from "../../src/service/lost-values.ts";
import { sealingFromFile } from "../../src/store/keys/key-file.ts";
import { madeWorld } from "./sealed-world.ts";

describe("a link whose key is lost", () => {
  it("keeps its token when only its credential was sealed with that key, and loses both otherwise", async (t) => {
    const { parts, keyFile } = await madeWorld(t, "sqlite", 5);
    const { store } = parts;
    const sealing = sealingFromFile(keyFile);
    const link = { userId: 1 as UserId, ecosystem: "nest" };
    const stored = async () => (await store.read((tx) => tx.links.find(link.userId, link.ecosystem)))!;
    const before = await stored();
    const drop = (kind: "link" | "link credential") =>
      store.transaction((tx) => dropValue(tx, sealing, { kind, ...link }));

    const lost = { kind: "link", ...link, deviceId: before.deviceId };
    assert.deepEqual(await drop("link credential"), lost);
    const { sealedCredential, ...rest } = await stored();
    assert.deepEqual([sealedCredential, rest.sealedToken, rest.epoch], [null, before.sealedToken, before.epoch]);
    assert.equal(openCredential(sealing.open, await stored()).credential.accessToken, "c.token");

    await store.transaction((tx) =>
      tx.links.setToken(link.userId, before.deviceId, before.sealedToken, before.sealedCredential),
    );
    assert.deepEqual(await drop("link"), lost);
    const after = await stored();
    assert.deepEqual([after.sealedCredential, after.state, after.epoch], [null, "needs_reauth", before.epoch + 1]);
    assert.equal(openCredential(sealing.open, after).credential.accessToken, "");
  });
});
