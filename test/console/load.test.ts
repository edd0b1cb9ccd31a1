import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { Page } from "playwright-core";
import { startSimulator } from "../../simulator/simulator.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import type { AddedPage } from "../../src/outlets/console/console-additions.ts";
import { home } from "../../src/outlets/console/pages/home.ts";
import { addDevice } from "../../src/provisioning/operator-devices.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { startService } from "../../src/service/service.ts";
import { html } from "../../src/web/html.ts";
import { browserOfFile, skip } from "../browser/world.ts";
import { OperatorBrowser } from "../operators/operator-browser.ts";
import { cheapPasswords } from "../set-up/cheap-passwords.ts";
import { newDataFolder } from "../set-up/sqlite-template.ts";
import { PlatformClient } from "../stories/platform-client.ts";
import { person, storyConfig } from "../stories/world.ts";
import { isLive } from "./unknown-page.ts";

const browser = browserOfFile();
const timeout = 7_200_000;
/** `MINUTES=60 npm test -- console/load` lets the page run for an hour. */
const minutes = Number(process.env.MINUTES ?? "0.5");
/** In a long run the page also rests, as it does on most days, and other work can run on the machine. */
const restMs = minutes > 5 ? 15_000 : 0;
const updates = { count: 2_000, inMs: 5_000, together: 20 };
/** Half a second of updates. */
const mostBehind = updates.count * (500 / updates.inMs);

describe("a page of the console under load", { skip, timeout }, () => {
  it("is at most half a second of updates behind, while 2,000 of them come in 5 seconds", async (t) => {
    const { tab, write } = await loadedPage(t);
    const behind: number[] = [];
    let isOver = false;
    const looking = (async () => {
      while (!isOver) {
        const committed = write.committed;
        behind.push(committed - (await shownCount(tab)));
        await pause(20);
      }
    })();
    await write.flood(updates.count);
    const atTheEnd = write.committed;
    isOver = true;
    await looking;
    await tab.locator(`#count[data-count="${atTheEnd}"]`).waitFor();
    const sorted = behind.toSorted((a, b) => a - b);
    const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)]!;
    t.diagnostic(
      `${atTheEnd} updates in ${write.floodMs} ms, looked at ${sorted.length} times: behind by ${at(0.5)} (median), ${at(0.95)} (95 %), ${at(1)} (most)`,
    );
    assert.ok(at(1) <= mostBehind, `the page was ${at(1)} updates behind`);
  });

  it("keeps its memory flat", async (t) => {
    const { tab, write, useSession } = await loadedPage(t);
    const profiler = await tab.context().newCDPSession(tab);
    await profiler.send("Performance.enable");
    const measured = async () => {
      await isLive(tab);
      for (let times = 0; times < 3; times += 1) await profiler.send("HeapProfiler.collectGarbage");
      const { metrics } = await profiler.send("Performance.getMetrics");
      const metric = (name: string) => metrics.find((one) => one.name === name)!.value;
      return {
        heapKilobytes: Math.round(metric("JSHeapUsedSize") / 1_000),
        nodes: metric("Nodes"),
        listeners: metric("JSEventListeners"),
        documents: metric("Documents"),
      };
    };
    await write.flood(updates.count);
    const before = await measured();
    for (const endMs = Date.now() + minutes * 60_000; Date.now() < endMs; ) {
      await write.flood(updates.count);
      // An open page alone does not use the operator's session, which ends after an hour without use.
      await useSession();
      await pause(restMs);
    }
    const after = await measured();
    t.diagnostic(`after ${write.committed} updates in ${minutes} minutes: ${JSON.stringify({ before, after })}`);
    assert.ok(after.heapKilobytes < before.heapKilobytes + 500, "the heap has grown");
    assert.ok(after.nodes <= before.nodes + 200, "nodes were left behind");
    assert.ok(after.listeners <= before.listeners + 5, "listeners were left behind");
    assert.ok(after.documents <= before.documents + 2, "documents were left behind");
  });
});

const shownCount = (tab: Page) => tab.evaluate<number>("Number(document.getElementById('count').dataset.count)");

/** A page with the whole of a home, and the count of updates, in a live tab; and the writer of the updates. */
async function loadedPage(t: TestContext) {
  const folder = await newDataFolder("breezeway-load-");
  const simulator = await startSimulator({ port: 0 });
  const structures = [{ name: "Maple Street", thermostats: 5, alarms: 5 }];
  const { token } = simulator.addAccount({ seed: 1, structures } as never);
  let count = () => "0";
  const page: AddedPage = {
    path: "/count/:user/:ecosystem",
    title: "Count",
    subject: "tenants",
    refreshOn: ["attribute"],
    render: async (context) => ({
      count: html`<p id="count" data-count="${count()}">${count()} updates</p>`,
      ...(await home.render(context)),
    }),
  };
  const config = storyConfig(folder, simulator.url);
  const service = await startService(config, startLogging("silent"), undefined, {
    ...cheapPasswords,
    console: { pages: [page] },
  });
  const { parts, baseUrl } = service;
  const { tenantId } = await parts.identity.addTenant({ name: "Story" });
  const userId = await parts.identity.addUser({ tenant: "Story", ...person, isAdmin: false });
  const client = new PlatformClient(() => baseUrl);
  await client.login(person.name, person.password, tenantId);
  await client.federate("POST", token);
  const lamp: DeviceId = await addDevice(parts.store, { userId, name: "Lamp", typeName: "Lamp" });
  const operator = new OperatorBrowser(baseUrl);
  const { path } = (await parts.administration.run("operator claim", {}, { service: { baseUrl } })) as {
    readonly path: string;
  };
  await operator.send(path, { name: "olga", password: "correct horse" });
  const context = await browser().newContext();
  t.after(async () => {
    await context.close();
    await service.stop();
    await simulator.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const at = operator.cookie.indexOf("=");
  await context.addCookies([
    { name: operator.cookie.slice(0, at), value: operator.cookie.slice(at + 1), url: baseUrl },
  ]);

  const ofUser = { kind: "user", userId } as const;
  const write = {
    /** How many updates are stored. */
    committed: 0,
    floodMs: 0,
    async flood(total: number) {
      const startedMs = Date.now();
      const { inMs, together } = updates;
      const writing: Promise<unknown>[] = [];
      for (let sent = 0; sent < total; sent += together) {
        await pause(Math.max(0, startedMs + (sent / total) * inMs - Date.now()));
        for (let one = 0; one < together; one += 1) {
          const value = String(Math.random());
          const stored = parts.devices.write(ofUser, lamp, [{ name: "power", value }]);
          writing.push(stored.then(() => (write.committed += 1)));
        }
      }
      await Promise.all(writing);
      write.floodMs = Date.now() - startedMs;
    },
  };
  count = () => String(write.committed);
  const tab = await context.newPage();
  await tab.goto(`${baseUrl}/console/count/${userId}/nest`);
  await isLive(tab);
  const useSession = async () => {
    const { status } = await fetch(`${baseUrl}/console`, { headers: { cookie: operator.cookie } });
    assert.equal(status, 200);
  };
  return { tab, write, useSession };
}
