import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { copyFileSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, it, type TestContext } from "node:test";
import pg from "pg";
import { startLogging } from "../../src/runtime/process/log.ts";
import { startService } from "../../src/service/service.ts";
import { folderOf } from "../cli/made-folder.ts";
import { readExposition } from "../metrics/read-exposition.ts";
import { hasOpenssl, makeCertificate } from "../set-up/certificate.ts";
import { breezeway } from "../stories/child-service.ts";
import { eventually, storyConfig } from "../stories/world.ts";
import { figure, operated, watchedNodes } from "./watched-nodes.ts";

interface Audited {
  readonly entries: readonly { readonly detail: { readonly command: string } }[];
}

const unusedAddress = "http://127.0.0.1:9";
const lastBackup = "breezeway_last_backup_timestamp_seconds";

for (const database of operated) {
  describe(`the figures of a service on ${database}`, () => {
    it("show the last backup on every node and after a restart, free disk, connections, and each known label with 0", {
      timeout: 120_000,
    }, async (t) => {
      const watched = await watchedNodes(t, database);
      const { nodes, first, start, config, folder } = watched;
      const backups = () => Promise.all(nodes.map((node) => figure(node, lastBackup)));
      assert.deepEqual(await backups(), database === "sqlite" ? [0] : [0, 0]);
      const beforeSeconds = Date.now() / 1_000;
      const to = join(folderOf(t), "backup.tar");
      const environment = { BREEZEWAY_DATA: folder, BREEZEWAY_DATABASE_URL: config.databaseUrl ?? "" };
      const command = database === "sqlite" ? ["backup", "--to", to] : ["backed-up"];
      const { code, stderr } = await breezeway(command, { environment });
      assert.equal(code, 0, stderr);
      const { entries } = (await first.parts.administration.run("audit list", { limit: "1" })) as Audited;
      assert.equal(entries[0]?.detail.command, command[0]);
      const taken = await backups();
      for (const seconds of taken) assert.ok(seconds! >= beforeSeconds - 1 && seconds! <= Date.now() / 1_000 + 1);

      const { bavail, blocks, bsize } = statfsSync(folder);
      assert.equal(await figure(first, "breezeway_data_size_bytes"), blocks * bsize);
      const free = (await figure(first, "breezeway_data_free_bytes"))!;
      assert.ok(free > 0 && Math.abs(free - bavail * bsize) < blocks * bsize * 0.1);

      const { samples } = readExposition(await (await fetch(`${first.baseUrl}/metrics`)).text());
      for (const [name, label, values] of knownLabels) {
        const found = samples.filter((one) => one.name === name).map(({ labels }) => labels[label]);
        assert.deepEqual(found.toSorted(), [...values].toSorted(), name);
      }

      if (database === "postgres") await assertPoolsShown(t, watched);
      if (database === "sqlite") await first.stop();
      assert.equal(await figure(await start(), lastBackup), taken[0]);
    });
  });
}

describe("a node with a certificate", { skip: hasOpenssl ? false : "openssl makes the certificate" }, () => {
  it("shows when it expires, also after it was renewed", { timeout: 120_000 }, async (t) => {
    const folder = folderOf(t);
    const [first, renewed] = [makeCertificate(folder, "first"), makeCertificate(folder, "renewed", ["-days", "30"])];
    const config = {
      ...storyConfig(join(folder, "data"), unusedAddress),
      tlsCertFile: first.certFile,
      tlsKeyFile: first.keyFile,
    };
    const service = await startService(config, startLogging("silent"));
    t.after(() => service.stop().finally(() => rmSync(join(folder, "data"), { recursive: true, force: true })));
    const expiry = async (ca: string) => {
      const sent = request(`${service.baseUrl}/metrics`, { ca, servername: "localhost", agent: false });
      const answered = new Promise<string>((resolve, reject) => {
        sent.once("response", (response) => text(response).then(resolve, reject)).once("error", reject);
      });
      sent.end();
      const { samples } = readExposition(await answered);
      return samples.find(({ name }) => name === "breezeway_tls_certificate_expiry_timestamp_seconds")?.value;
    };
    const validTo = (cert: string) => new X509Certificate(cert).validToDate.getTime() / 1_000;
    assert.equal(await expiry(first.cert), validTo(first.cert));
    const soon = readFileSync(renewed.certFile, "utf8");
    copyFileSync(renewed.certFile, first.certFile);
    copyFileSync(renewed.keyFile, first.keyFile);
    service.reload();
    assert.equal(await expiry(soon), validTo(soon));
  });
});

/** With all connections of a pool in use, the metrics show how many are in use, idle and waited for. */
async function assertPoolsShown(t: TestContext, watched: Awaited<ReturnType<typeof watchedNodes>>): Promise<void> {
  const { first, v3, deviceId, userId, config } = watched;
  const pool = "ordinary";
  const shown = (inUse: number, idle: number, waiting: number) =>
    eventually(t.signal, async () => {
      const connections = (state: string) => figure(first, "breezeway_store_connections", { pool, state });
      const found = [await connections("in_use"), await connections("idle")];
      found.push(await figure(first, "breezeway_store_connections_waiting", { pool }));
      assert.deepEqual(found, [inUse, idle, waiting]);
    });
  // Ignore the collector's own reads.
  await eventually(t.signal, async () => {
    assert.equal(await figure(first, "breezeway_store_connections_waiting", { pool: "reading" }), 0);
  });
  const most = (await figure(first, "breezeway_store_connections_max", { pool }))!;
  const holder = new pg.Client({ connectionString: config.databaseUrl });
  await holder.connect();
  await holder.query("BEGIN");
  await holder.query("SELECT id FROM users WHERE id = $1 FOR UPDATE", [userId]);
  const writes = Array.from({ length: most + 2 }, (_, at) => v3.write(deviceId, { power: String(at) }));
  await shown(most, 0, 2);
  await holder.query("ROLLBACK");
  await holder.end();
  await Promise.all(writes);
  await shown(0, most, 0);
}

/** Series that dashboards and alarms need: they exist before the first event. */
const knownLabels = [
  ["breezeway_internal_errors_total", "where", ["v3", "oauth2", "adaptor", "platform", "other"]],
  ["breezeway_commits_total", "by", ["ecosystem", "client", "alert", "administrator"]],
  [
    "breezeway_fan_requests_total",
    "state",
    ["queued", "sending", "accepted", "confirmed", "contradicted", "rejected", "expired"],
  ],
  [
    "breezeway_commands_total",
    "state",
    ["queued", "sending", "accepted", "confirmed", "contradicted", "rejected", "expired"],
  ],
  ["breezeway_link_changes_total", "state", ["live", "waiting", "needs_reauth"]],
  ["breezeway_webhook_attempts_total", "outcome", ["delivered", "failed", "postponed"]],
] as const;
