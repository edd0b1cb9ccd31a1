import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { rows } from "../../verify/all-rows.ts";
import { reportPage } from "../../verify/report/report-page.ts";
import { reportText } from "../../verify/report/report-text.ts";
import { verify } from "../../verify/verify.ts";
import { ScriptedBrowser } from "../oauth/scripted-browser.ts";
import { freePort } from "../set-up/free-port.ts";
import { sampleOf } from "../set-up/sample.ts";
import { person, world } from "../stories/world.ts";
import { brokenDeployments, otherFaults } from "./broken-deployments.ts";
import { nothing, statuses, verifyWorld } from "./world.ts";

const concurrency = 6;
const emptyInput = {
  client: undefined,
  person: undefined,
  signsInByHand: false,
  appId: undefined,
  deviceId: undefined,
  foreignDeviceId: undefined,
  simulator: undefined,
  ecosystem: "nest",
  isPatient: false,
};

describe("a verification", () => {
  it("passes every row on the service, says what was not run, and leaves nothing behind", {
    timeout: 120_000,
  }, async (t) => {
    const setup = await verifyWorld(t);
    const { report, input } = await setup.run();
    assert.deepEqual(
      report.rows.filter(({ status }) => status !== "pass").map(({ name, status, seen }) => [name, status, seen]),
      [],
    );
    const { grade, verdict, rows } = report;
    const sentence = `All ${rows.length} rows passed. 1 more can be run with --patient, which takes a minute.`;
    assert.deepEqual([grade, verdict], ["A", sentence]);
    assert.deepEqual(await setup.leftovers(), nothing);
    const output = [
      JSON.stringify(report),
      reportPage(report),
      reportText(report, { hasColour: true, width: 80 }),
    ].join();
    for (const secret of [input.person!.password, input.client!.secret]) assert.ok(!output.includes(secret));
    assert.doesNotMatch(output, /bw[ars]_|whsec_|\bc\.[A-Za-z0-9_-]{20}/);
  });

  it("lets a user sign in with a browser", { timeout: 60_000 }, async (t) => {
    const setup = await verifyWorld(t);
    const person = { name: "ada", password: "correct horse" };
    const redirectUri = `http://127.0.0.1:${await freePort()}/verify`;
    await setup.administer("tenant add", { name: "Acme" });
    await setup.administer("user add", { tenant: "Acme", ...person });
    const client = { tenant: "Acme", name: "Voice", "redirect-uri": [redirectUri] };
    const { client_id: id, client_secret: secret } = await setup.administer("client add", client);
    const browser = new ScriptedBrowser(() => setup.service.baseUrl);
    const input = {
      ...emptyInput,
      url: setup.service.baseUrl,
      client: { id, secret, redirectUri },
      signsInByHand: true,
    };
    const report = await verify(input, {
      version: "test",
      signal: t.signal,
      say: (words) => {
        const [address = ""] = /http\S+/.exec(words) ?? [];
        void browser.authorize(address, person).then((returned) => fetch(returned));
      },
    });
    const found = statuses(report);
    assert.deepEqual([found.authorize, found.state, found.exchange, found.revoke], ["pass", "pass", "pass", "pass"]);
    assert.deepEqual([found.declined, found.write, found.link], ["not_run", "not_run", "not_run"]);
    assert.equal(report.counts.fail, 0);
  });

  it("detects the reuse of a retired refresh token, and warns of a wrong clock", { timeout: 120_000 }, async (t) => {
    const setup = await verifyWorld(t);
    const { report } = await setup.run({ isPatient: true });
    const found = statuses(report);
    assert.equal(found["refresh-reuse"], "pass");
    assert.equal(found.times, "warn");
    assert.match(report.rows.find(({ name }) => name === "times")!.seen, /clock is 6\d\.\d s ahead/);
    assert.equal(report.counts.fail, 0);
  });

  it("fails exactly the broken row", { timeout: 300_000 }, async (t) => {
    const setup = await verifyWorld(t);
    const queue = [...sampleOf(brokenDeployments, { everyNth: 20 })];
    const unexpected: object[] = [];
    const work = async () => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        const { what, row, expected, breaking } = next;
        const { report } = await setup.run({ breaking: breaking() });
        const failed = report.rows.filter(({ status }) => status === "fail");
        const [failedRow] = failed;
        const isRight = failed.length === 1 && failedRow?.name === row && expected.test(failedRow.seen);
        if (!isRight) unexpected.push({ what, failed: failed.map(({ name, seen }) => [name, seen]) });
        else assert.ok(failedRow.atFault && failedRow.next && report.verdict.includes(failedRow.title), what);
        // Rows that depend on the broken row are not run; all others are.
        const notRun = report.rows.filter(({ status }) => status === "not_run");
        assert.ok(
          notRun.every(({ seen }) => /^(It depends on|This row waits)/.test(seen)),
          what,
        );
      }
    };
    await Promise.all(Array.from({ length: concurrency }, work));
    assert.deepEqual(unexpected, []);
    assert.deepEqual(await setup.leftovers(), nothing);
  });

  it("can fail every row", { timeout: 120_000 }, async (t) => {
    const setup = await verifyWorld(t);
    await setup.runEach(sampleOf(otherFaults, { everyNth: 12 }), ({ what, row, expected }, { rows }) => {
      const failed = rows.filter(({ status }) => status === "fail").map(({ name, seen }) => ({ name, seen }));
      assert.deepEqual(
        [failed.map(({ name }) => name), expected.test(failed[0]?.seen ?? "")],
        [[row], true],
        `${what}: ${failed[0]?.seen}`,
      );
    });
    assert.deepEqual(await setup.leftovers(), nothing);
    const broken = new Set([...brokenDeployments, ...otherFaults].map(({ row }) => row));
    assert.deepEqual(
      rows.map(({ name }) => name).filter((name) => !broken.has(name)),
      [],
    );
  });

  it("leaves an existing link alone", { timeout: 60_000 }, async (t) => {
    const story = await world(t);
    const deviceId = await story.link();
    const { tenantId } = await story.service.parts.identity.findTenant("Story");
    const client = { tenant: "Story", name: "Voice", "redirect-uri": ["https://voice.example/"] };
    const made = await story.service.parts.administration.run("client add", client);
    const { client_id: id, client_secret: secret } = made as { client_id: string; client_secret: string };
    const input = {
      ...emptyInput,
      url: story.service.baseUrl,
      client: { id, secret, redirectUri: "https://voice.example/" },
      person,
      appId: String(tenantId),
      simulator: { url: story.simulator.url, isAssumed: false },
    };
    const report = await verify(input, { version: "test", signal: t.signal, say: () => undefined });
    const { status, seen } = report.rows.find(({ name }) => name === "unlinked")!;
    assert.deepEqual([status, seen], ["not_run", "The user is linked already, and verify leaves links alone."]);
    assert.equal(report.counts.fail, 0);
    assert.equal((await story.client.linkStatus()).DeviceId, String(deviceId));
    assert.deepEqual(story.simulator.accountIds(), [story.accountId]);
  });

  it("leaves nothing behind when it is interrupted", { timeout: 60_000 }, async (t) => {
    const setup = await verifyWorld(t);
    const interrupted = new AbortController();
    const begins = ({ name }: { readonly name: string }) => {
      if (name === "fan-refused") queueMicrotask(() => interrupted.abort(new Error("enough")));
    };
    await assert.rejects(setup.run({}, { signal: interrupted.signal, begins }), /enough/);
    assert.deepEqual(await setup.leftovers(), nothing);
  });

  it("removes what an earlier run left behind, and no other tenant", async (t) => {
    const setup = await verifyWorld(t);
    const nameAt = (ms: number) => `Verify ${new Date(ms).toISOString()} 0a1b2c`;
    const add = async (name: string, user: string | undefined) => {
      await setup.administer("tenant add", { name });
      if (user !== undefined) await setup.administer("user add", { tenant: name, name: user, password: "a good one" });
      await setup.administer("client add", { tenant: name, name: "Verify", "redirect-uri": ["https://x.example/"] });
    };
    const longAgo = Date.now() - 7_200_000;
    const kept = ["Verify 1", "Verify 2024", "Verify staging-2", "Verify 2024-01-01T00:00:00.000Z"];
    for (const name of kept) await add(name, "verify");
    await add(nameAt(longAgo), "verify");
    await add(nameAt(longAgo + 1), undefined);
    await add(nameAt(longAgo + 2), "ada");
    await setup.timePasses(7_200_000);
    // Added now, by a machine whose clock is behind.
    await add(nameAt(longAgo + 3), "verify");
    const signal = AbortSignal.abort(new Error("enough"));
    await assert.rejects(setup.run({}, { signal }), /enough/);
    const { tenants } = await setup.leftovers();
    assert.deepEqual(
      tenants.map(({ name }) => name),
      [...kept, nameAt(longAgo + 2), nameAt(longAgo + 3)],
    );
  });
});
