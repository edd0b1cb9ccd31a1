import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { breezeway, type ChildService, takenPort } from "../stories/child-service.ts";
import { PlatformClient } from "../stories/platform-client.ts";
import { folderOf, running } from "./made-folder.ts";
import { runCommand } from "./run-command.ts";

describe("the command line", () => {
  it("prints help on --help, and without arguments", async () => {
    for (const { code, stdout, stderr } of [await breezeway(["--help"]), await runCommand([])]) {
      assert.equal(code, 0);
      assert.match(stdout, /^Usage: breezeway/);
      assert.match(stdout, /serve .*run the service/);
      assert.equal(stderr, "");
    }
  });

  it("answers a typo with the nearest command and exit code 2", async () => {
    const { code, stdout, stderr } = await runCommand(["serv"]);
    assert.equal(code, 2);
    assert.equal(stdout, "");
    assert.match(stderr, /unknown command 'serv'\n\(Did you mean serve\?\)/);
    const verb = await runCommand(["client", "rotate-secrets"]);
    assert.equal(verb.code, 2);
    assert.match(verb.stderr, /Did you mean rotate-secret\?/);
    const flag = await runCommand(["audit", "list", "--tennant", "Acme"]);
    assert.equal(flag.code, 2);
    assert.match(flag.stderr, /Did you mean --tenant\?\)\n\(breezeway audit list --help lists its options\)/);
  });

  it("reports all configuration errors in one message, with exit code 3", async () => {
    const environment = { BREEZEWAY_PORT: "eighty", BREEZEWAY_PROT: "1", BREEZEWAY_BASE_URL: "http://example.com" };
    const { code, stderr } = await runCommand(["serve"], { environment });
    assert.equal(code, 3);
    assert.match(stderr, /The configuration has 3 problems:/);
    assert.match(stderr, /BREEZEWAY_PROT is not a setting\. Did you mean BREEZEWAY_PORT\?/);
    assert.match(stderr, /BREEZEWAY_PORT must be a port from 0 to 65535\./);
    assert.match(stderr, /BREEZEWAY_BASE_URL must be https or loopback/);
  });

  it("adds a tenant, a user and a device on a store without a running service", async (t) => {
    const environment = { BREEZEWAY_DATA: folderOf(t) };
    const tenant = await runCommand(["tenant", "add", "--name", "Acme", "--app-id", "42", "--json"], { environment });
    assert.deepEqual(JSON.parse(tenant.stdout), { tenantId: 42, name: "Acme" });
    const user = ["user", "add", "--tenant", "42", "--name", "ada", "--json"];
    const added = await breezeway(user, { environment, input: "a good password\n" });
    assert.deepEqual(JSON.parse(added.stdout), { userId: 1 });
    const device = ["device", "add", "--user", "1", "--name", "Hall lamp", "--type", "Lamp", "--json"];
    assert.deepEqual(JSON.parse((await runCommand(device, { environment })).stdout), { deviceId: 1 });
    const { stdout } = await runCommand(["status", "--json"], { environment });
    assert.deepEqual(JSON.parse(stdout), { running: false, tenants: 1, links: {} });
    if (process.platform !== "win32") {
      for (const file of ["breezeway.db", "breezeway.key"]) {
        assert.equal(statSync(join(environment.BREEZEWAY_DATA, file)).mode & 0o777, 0o600, file);
      }
    }
  });

  it("has different exit codes for a conflict, a missing object and a bad value", async (t) => {
    const environment = { BREEZEWAY_DATA: folderOf(t), BREEZEWAY_PASSWORD: "a good password" };
    await runCommand(["tenant", "add", "--name", "Acme"], { environment });
    const again = await runCommand(["tenant", "add", "--name", "Acme"], { environment });
    assert.deepEqual([again.code, again.stderr], [7, "breezeway: There is a tenant Acme already.\n"]);
    const absent = await runCommand(["user", "add", "--tenant", "Other", "--name", "ada"], { environment });
    assert.equal(absent.code, 5);
    assert.match(absent.stderr, /There is no tenant Other\. See all with: breezeway tenant list/);
    const bad = await runCommand(["device", "add", "--user", "x", "--name", "a", "--type", "b"], { environment });
    assert.deepEqual([bad.code, bad.stderr], [2, "breezeway: --user must be a number from 1 to 2147483647.\n"]);
  });

  it("says which port is taken, and frees the folder again", async (t) => {
    const port = await takenPort(t);
    const environment = { BREEZEWAY_DATA: folderOf(t), BREEZEWAY_PORT: String(port) };
    assert.equal((await runCommand(["tenant", "add", "--name", "Acme"], { environment })).code, 0);
    const { code, stderr } = await breezeway(["serve"], { environment });
    assert.equal(code, 7);
    assert.match(stderr, new RegExp(`breezeway: Port ${port} on 127.0.0.1 is taken`));
    assert.equal((await runCommand(["status"], { environment })).code, 0);
  });
});

describe("a running service", () => {
  it("carries out commands at once, keeps a second service off its folder, and drains on SIGTERM", {
    timeout: 120_000,
  }, async (t) => {
    const folder = folderOf(t);
    const environment = { BREEZEWAY_DATA: folder, BREEZEWAY_PASSWORD: "a good password" };
    const service = await running(t, folder);
    const tenant = await runCommand(["tenant", "add", "--name", "Acme", "--json"], { environment });
    const { tenantId } = JSON.parse(tenant.stdout);
    await runCommand(["user", "add", "--tenant", "Acme", "--name", "ada"], { environment });
    const client = new PlatformClient(() => service.baseUrl);
    await client.login("ada", "a good password", tenantId);
    assert.match(client.secToken, /^bws_/);
    const status = await runCommand(["status", "--json"], { environment });
    assert.deepEqual(JSON.parse(status.stdout), { running: true, baseUrl: service.baseUrl, tenants: 1, links: {} });

    const second = await breezeway(["serve"], { environment: { BREEZEWAY_DATA: folder, BREEZEWAY_PORT: "0" } });
    assert.equal(second.code, 7);
    assert.match(second.stderr, /^breezeway: Another Breezeway is running on .*Stop it, or choose another folder\.\n$/);
    await assertDrains(service, "SIGTERM");
  });

  it("drains and ends with exit code 0 on SIGINT", { timeout: 120_000 }, async (t) => {
    await assertDrains(await running(t, folderOf(t)), "SIGINT");
  });
});

async function assertDrains(service: ChildService, signal: "SIGTERM" | "SIGINT"): Promise<void> {
  assert.equal((await fetch(`${service.baseUrl}/livez`)).status, 200);
  assert.equal((await fetch(`${service.baseUrl}/readyz`)).status, 200);
  service.process.kill(signal);
  assert.equal(await service.ended, 0);
  await assert.rejects(fetch(`${service.baseUrl}/livez`));
}
