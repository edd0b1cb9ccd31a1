import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, it, type TestContext } from "node:test";
import { build } from "../../src/service/build.ts";
import { readExposition, type Sample } from "../metrics/read-exposition.ts";
import { ensurePromtool, missingPromtool } from "../set-up/promtool.ts";
import { clientOfUser } from "./v3-client.ts";
import { deployments, eventually, longSuiteOn, person, world } from "./world.ts";

const awayName = "d.structures[1].a.away";

for (const database of longSuiteOn("sqlite", deployments)) {
  describe(`/metrics on ${database}`, () => {
    it("counts what happens, without an id or a secret in any label", { timeout: 60_000 }, async (t) => {
      const w = await world(t, { database, structures: [{ thermostats: 1, alarms: 1 }] });
      const { simulator, accountId, client } = w;
      const linked = await w.link();
      const v3 = await clientOfUser(() => w.service, "Story", person);
      const lampId = await w.addLamp();
      const secret = `secret-${client.secToken}`;
      await client.call("addTrigger", {
        secToken: client.secToken,
        devId: String(linked),
        attrName: awayName,
        operation: "regex",
        stringThreshold: ".*away",
        action: "attribute",
        targetDeviceAttributes: `${lampId},power:"off"`,
      });
      const fan = "d.structures[1].d.thermostats[1].fan_timer_active.requestWrite";
      await v3.write(linked, { [fan]: "nonsense" });
      await simulator.playScene(accountId, { scene: "leave" });
      await eventually(t.signal, async () => assert.equal((await v3.attributes(lampId)).power?.value, "off"));
      assert.equal((await v3.call(`/devices/${linked}?attribute=${secret}`)).status, 404);
      assert.equal((await v3.call("/devices/424242")).status, 404);
      assert.equal((await fetch(`${w.service.baseUrl}/nowhere/${secret}`)).status, 404);
      const stream = await fetch(`${w.service.baseUrl}/v3/events`, {
        headers: { authorization: `Bearer ${v3.accessToken}` },
      });
      t.after(() => stream.body?.cancel());
      const readers = /^breezeway_event_readers 1$/m;
      await eventually(t.signal, async () => {
        assert.match((await Promise.all(w.nodes.map(({ url }) => metricsText(url)))).join(""), readers);
      });

      const texts = await Promise.all(w.nodes.map(({ url }) => metricsText(url)));
      const text = texts.join("");
      const perNode = texts.map((one) => readExposition(one).samples);
      const each = (name: string) => perNode.map((samples) => samples.find((one) => one.name === name)?.value);
      /** Sums a counter over the nodes, as a collector does: each node counts only its own work. */
      const value = (name: string, labels: Record<string, string> = {}) =>
        perNode
          .flatMap((samples) => samples.find((one) => one.name === name && isWithin(labels, one))?.value ?? [])
          .reduce<number | undefined>((sum, one) => (sum ?? 0) + one, undefined);
      assert.equal(value("breezeway_http_requests_total", { route: "/v3/devices/:deviceId", status: "404" }), 2);
      assert.ok(value("breezeway_http_requests_total", { method: "PUT", status: "200" })! >= 1);
      assert.equal(value("breezeway_http_requests_total", { route: "-", status: "404" }), 1);
      assert.ok(value("breezeway_http_request_duration_seconds_count", { route: "/v3/devices/:deviceId" })! >= 3);
      assert.equal(value("breezeway_links", { state: "live" }), 1);
      assert.equal(value("breezeway_links_stale"), 0);
      assert.equal(value("breezeway_links_slowed"), 0);
      assert.equal(value("breezeway_alerts_fired_total"), 1);
      assert.equal(value("breezeway_fan_requests_total", { state: "rejected" }), 1);
      assert.ok(value("breezeway_link_changes_total", { state: "live" })! >= 1);
      for (const by of ["ecosystem", "client", "alert"]) assert.ok(value("breezeway_commits_total", { by })! >= 1, by);
      assert.ok(value("breezeway_store_transactions_total")! > 5);
      for (const up of each("breezeway_store_up")) assert.equal(up, 1);
      assert.ok(value("breezeway_store_bytes")! > 50_000);
      assert.equal(value("breezeway_webhook_waiting"), 0);
      if (database === "sqlite") assert.ok(value("breezeway_store_group_size_count")! > 5);
      for (const name of ["process_cpu_seconds_total", "process_resident_memory_bytes", "breezeway_build_info"]) {
        assert.ok(value(name)! > 0, name);
      }
      const { version, commit, schema } = build;
      assert.equal(value("breezeway_build_info", { version, commit, schema: String(schema) }), 1);
      if (database === "sqlite") assertPromtoolFindsNothing(t, text);
      for (const hidden of [client.secToken, v3.accessToken, w.accountToken, "424242", "Lamp", "nonsense"]) {
        assert.ok(!text.includes(hidden), `a label holds ${hidden}`);
      }
    });
  });
}

async function metricsText(url: string): Promise<string> {
  const answer = await fetch(`${url}/metrics`);
  assert.equal(answer.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  return answer.text();
}

/** promtool parses the metrics as Prometheus does, and checks the rules for names, units and labels. */
function assertPromtoolFindsNothing(t: TestContext, text: string): void {
  const missing = missingPromtool();
  if (missing !== undefined) {
    t.diagnostic(`Not judged by promtool: ${missing}`);
    return;
  }
  const { stdout, stderr, status } = spawnSync(ensurePromtool(), ["check", "metrics"], {
    input: text,
    encoding: "utf8",
  });
  assert.deepEqual([stdout + stderr, status], ["", 0]);
}

function isWithin(labels: Record<string, string>, sample: Sample): boolean {
  return Object.entries(labels).every(([name, value]) => sample.labels[name] === value);
}
