import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { browserScripts } from "../../src/outlets/console/browser-scripts.ts";
import { consoleWorld, framesOf } from "./console-world.ts";

const stream = { accept: "text/event-stream" };

describe("the console's stream", () => {
  it("hints at a change without its content, and only to operators who reach the tenant", async (t) => {
    const { house, run, owner, invited } = await consoleWorld(t);
    await run("tenant add", { name: "Other" });
    const [seeing, blind] = [await owner(), await invited("vera", { role: "viewer", tenant: ["Other"] })];
    const [own, foreign] = await Promise.all([seeing.get("/console/live", stream), blind.get("/console/live", stream)]);
    assert.deepEqual([own.status, foreign.status], [200, 200]);
    const [next, nextForeign] = [framesOf(own), framesOf(foreign)];
    assert.equal((await next())!.name, "heartbeat");
    assert.equal((await nextForeign())!.name, "heartbeat");
    const lamp = await house.addLamp();
    const ofUser = { kind: "user", userId: house.userId } as const;
    await house.service.parts.devices.write(ofUser, lamp, [{ name: "power", value: "on" }]);
    let frame = await next();
    while (frame?.name === "heartbeat") frame = await next();
    assert.equal(frame!.name, "change");
    const { time, ...hint } = JSON.parse(frame!.data);
    assert.equal(typeof time, "number");
    assert.deepEqual(Object.keys(hint).sort(), ["deviceId", "kind", "tenantId", "userId"]);
    assert.doesNotMatch(frame!.data, /power/);
    assert.equal((await nextForeign())!.name, "heartbeat");
  });

  it("ends when the session ends, and when the operator is suspended", async (t) => {
    const { run, owner, invited } = await consoleWorld(t);
    const [first, second] = [await owner(), await invited("vera", { role: "viewer" })];
    const ended = async (answer: Response) => {
      const next = framesOf(answer);
      while ((await next()) !== undefined);
    };
    const streams = [await first.get("/console/live", stream), await second.get("/console/live", stream)];
    const ends = streams.map(ended);
    await first.send("/console/sign-out", {});
    await run("operator suspend", { operator: "vera" });
    await Promise.all(ends);
    assert.equal((await second.get("/console/live", stream)).status, 401);
  });

  it("is no use of the session: a page that nobody looks at is signed out", async (t) => {
    const { house, owner } = await consoleWorld(t);
    const browser = await owner();
    const usedMs = async () => (await house.service.parts.operators.listSessions())[0]!.usedMs;
    const before = await usedMs();
    const { store } = house.service.parts;
    const [session] = await store.read((tx) => tx.operatorSessions.list());
    await store.transaction((tx) => tx.operatorSessions.used(session!.hash, before - 120_000));
    assert.equal((await browser.get("/console?parts=links")).status, 200);
    assert.equal(await usedMs(), before - 120_000);
    assert.equal((await browser.get("/console")).status, 200);
    assert.ok((await usedMs()) >= before);
  });
});

describe("the console's scripts", () => {
  it("are served at an address that changes with them, without types", async (t) => {
    const { owner } = await consoleWorld(t);
    const browser = await owner();
    const page = await browser.get("/console");
    const [, path] = /src="(\/console\/scripts\/[^"]+)"/.exec(await page.text())!;
    assert.match(page.headers.get("content-security-policy")!, /script-src 'self'/);
    const script = await browser.get(path!);
    assert.equal(script.headers.get("content-type"), "text/javascript; charset=utf-8");
    assert.match(script.headers.get("cache-control")!, /immutable/);
    assert.doesNotMatch(await script.text(), /: Problem/);
    assert.equal((await browser.get(path!.replace("console.ts", "tsconfig.json"))).status, 404);
    assert.equal((await browser.get("/console/scripts/other/console.ts")).status, 404);
  });

  it("take less than 25 kB, compressed", () => {
    const bytes = gzipSync([...browserScripts().files.values()].join("\n")).length;
    assert.ok(bytes < 25_000, `${bytes} bytes`);
  });
});
