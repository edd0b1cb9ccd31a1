import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { folderOf } from "../cli/made-folder.ts";
import { missingPrometheus, startPrometheus } from "../set-up/prometheus-server.ts";
import { eventually, person } from "../stories/world.ts";
import { watchedNodes } from "./watched-nodes.ts";

const deployed = new URL("../../deploy/prometheus/", import.meta.url).pathname;
const metricsToken = "the token of the operator";

describe("Prometheus with the sample configuration", { skip: missingPrometheus() }, () => {
  it("collects from each node with the token, and raises an alarm for a defect of the service, but not for mistyped passwords", {
    timeout: 120_000,
  }, async (t) => {
    const { nodes, first, v3, tenantId, platform, sql } = await watchedNodes(t, "postgres", { metricsToken });
    const proxy = await inFrontOf(
      t,
      nodes.map(({ baseUrl }) => Number(new URL(baseUrl).port)),
    );
    const { ask } = await startPrometheus(t, configuration(t, proxy), folderOf(t));
    const found = async (query: string) => {
      const { result } = await ask(`query?query=${encodeURIComponent(query)}`);
      return Object.fromEntries(
        (result as { metric: { instance: string }; value: [number, string] }[]).map(({ metric, value }) => [
          metric.instance,
          Number(value[1]),
        ]),
      );
    };
    // The third node of the sample does not exist here.
    await eventually(t.signal, async () => {
      assert.deepEqual(await found("up"), { "node-1:8080": 1, "node-2:8080": 1, "node-3:8080": 0 });
      assert.deepEqual(await found('breezeway_internal_errors_total{where="v3"}'), {
        "node-1:8080": 0,
        "node-2:8080": 0,
      });
    });
    for (const wrong of ["one", "two", "three"]) {
      await platform.call("userLogin", { name: person.name, password: wrong, appId: String(tenantId) });
    }
    await eventually(t.signal, async () => {
      assert.equal((await found('breezeway_platform_faults_total{fault="101"}'))["node-1:8080"], 3);
    });
    const firing = async () => {
      const { alerts } = await ask("alerts");
      return (alerts as { state: string; labels: Record<string, string> }[])
        .filter(({ state }) => state === "firing")
        .map(({ labels }) => [labels.alertname, labels.instance, labels.where]);
    };
    assert.deepEqual(await firing(), []);
    await sql("DROP TABLE triggers");
    const answer = await fetch(`${first.baseUrl}/v3/alerts`, {
      headers: { authorization: `Bearer ${v3.accessToken}` },
    });
    assert.equal(answer.status, 500);
    await eventually(t.signal, async () => {
      assert.deepEqual(await firing(), [["BreezewayInternalErrors", "node-1:8080", "v3"]]);
    });
  });
});

/** The sample, with local paths, shorter intervals, and a proxy that knows the addresses of the nodes. */
function configuration(t: TestContext, proxy: string): string {
  const folder = folderOf(t);
  const token = join(folder, "metrics-token");
  writeFileSync(token, `${metricsToken}\n`);
  const changes: readonly (readonly [string, string])[] = [
    ["scrape_interval: 15s", "scrape_interval: 300ms\n  scrape_timeout: 300ms"],
    ["evaluation_interval: 15s", "evaluation_interval: 300ms"],
    ["- rules.yml", `- ${join(deployed, "rules.yml")}`],
    ["/run/secrets/metrics-token", token],
    ["  - job_name: breezeway", `  - job_name: breezeway\n    proxy_url: ${proxy}`],
  ];
  let text = readFileSync(join(deployed, "prometheus.yml"), "utf8");
  for (const [sample, here] of changes) {
    assert.ok(text.includes(sample), sample);
    text = text.replace(sample, here);
  }
  const file = join(folder, "prometheus.yml");
  writeFileSync(file, text);
  return file;
}

/** A proxy for `node-1:8080` and so on. Nodes see the requested host name, which is not the local one. */
async function inFrontOf(t: TestContext, ports: readonly number[]): Promise<string> {
  const proxy = createServer((incoming, outgoing) => {
    const { hostname, host, pathname } = new URL(incoming.url ?? "");
    const port = ports[Number(hostname.replace("node-", "")) - 1];
    if (port === undefined) return void outgoing.writeHead(502).end();
    const headers = { host, authorization: incoming.headers.authorization ?? "" };
    const passed = request({ port, host: "127.0.0.1", path: pathname, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
    });
    passed.once("error", () => outgoing.destroy());
    passed.end();
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  t.after(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}
