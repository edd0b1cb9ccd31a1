import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { startSimulator } from "../../simulator/simulator.ts";
import { freePort } from "../set-up/free-port.ts";
import { breezeway, startChild } from "../stories/child-service.ts";
import { eventually } from "../stories/world.ts";
import { breakingProxy, type Fault } from "./breaking-proxy.ts";
import { brokenDeployments } from "./broken-deployments.ts";
import { nothing } from "./world.ts";

const main = new URL("../../src/main.ts", import.meta.url).pathname;

describe("breezeway verify", () => {
  it("needs no options on the service's machine, writes its report, and leaves nothing behind", {
    timeout: 120_000,
  }, async (t) => {
    const { folder, environment, leftovers } = await deploy(t);
    const reportFolder = join(folder, "report");
    const { code, stdout, stderr } = await breezeway(["verify", "--report", reportFolder], { environment });
    const report = JSON.parse(stdout || assert.fail(stderr));
    assert.deepEqual([code, report.counts.fail, report.grade], [0, 0, "B"], stdout);
    const notRun = report.rows.filter(({ status }: { status: string }) => status === "not_run");
    assert.deepEqual(notRun.map(({ name }: { name: string }) => name).sort(), ["webhooks"]);
    assert.deepEqual(JSON.parse(readFileSync(join(reportFolder, "verify.json"), "utf8")), report);
    assert.match(readFileSync(join(reportFolder, "verify.html"), "utf8"), /<title>Grade B: /);
    assert.match(stderr, /Report: .*verify\.html/);
    assert.deepEqual(await leftovers(), nothing);
    const { verifications } = JSON.parse((await breezeway(["verification", "list", "--json"], { environment })).stdout);
    assert.deepEqual([verifications.length, verifications[0].grade, verifications[0].by], [1, "B", "local"]);
    const shown = await breezeway(["verification", "show", verifications[0].verificationId], { environment });
    assert.deepEqual(JSON.parse(shown.stdout).rows, report.rows);
  });

  it("ends with 1 when a row failed, and leaves nothing behind", { timeout: 120_000 }, async (t) => {
    const { breaking } = brokenDeployments.find(({ row }) => row === "state")!;
    const { environment, leftovers } = await deploy(t, breaking());
    const { code, stdout, stderr } = await breezeway(["verify", "--json"], { environment });
    assert.equal(code, 1, stderr);
    assert.equal(JSON.parse(stdout).grade, "F");
    assert.match(stderr, /1 of \d+ rows failed\./);
    assert.deepEqual(await leftovers(), nothing);
  });

  it("uses a given client and user, with secrets from a file and stdin", {
    timeout: 120_000,
  }, async (t) => {
    const { url, folder, environment, leftovers } = await deploy(t);
    const run = async (args: readonly string[], input?: string) => {
      const { stdout, stderr } = await breezeway([...args, "--json"], { environment, ...(input && { input }) });
      return JSON.parse(stdout || assert.fail(stderr));
    };
    const { tenantId } = await run(["tenant", "add", "--name", "Acme"]);
    const { userId } = await run(["user", "add", "--tenant", "Acme", "--name", "ada"], "correct horse\n");
    const redirect = ["--redirect-uri", "http://127.0.0.1:8976/verify"];
    const client = await run(["client", "add", "--tenant", "Acme", "--name", "Voice", ...redirect]);
    const { deviceId } = await run(["device", "add", "--user", String(userId), "--name", "Lamp", "--type", "Lamp"]);
    const options = ["--url", url, "--client-id", client.client_id, "--user", "ada", "--device", String(deviceId)];
    // As from another machine: only the address of the deployment is known.
    const password = join(folder, "password");
    writeFileSync(password, "correct horse\n");
    const elsewhere = { BREEZEWAY_DATA: join(folder, "elsewhere"), BREEZEWAY_PASSWORD_FILE: password };
    const { code, stdout, stderr } = await breezeway(["verify", ...options, "--app-id", String(tenantId)], {
      environment: elsewhere,
      input: `${client.client_secret}\n`,
    });
    const { rows, counts } = JSON.parse(stdout || assert.fail(stderr));
    assert.deepEqual([code, counts.fail], [0, 0], stdout);
    const found = Object.fromEntries(rows.map(({ name, status }: Record<string, string>) => [name, status]));
    assert.deepEqual([found.exchange, found.paging, found.cursor, found.link], ["pass", "warn", "not_run", "not_run"]);
    assert.match(rows.find(({ name }: { name: string }) => name === "unlinked").next, /--simulator/);
    assert.ok(!existsSync(elsewhere.BREEZEWAY_DATA));
    const reader = await run(["client", "add", "--tenant", "Acme", "--name", "Reader", "--kind", "enterprise"]);
    assert.deepEqual(await attributesOf(url, reader, deviceId), {});
    assert.deepEqual((await leftovers()).accounts, []);
    assert.doesNotMatch(stdout, new RegExp(`correct horse|${client.client_secret}`));
  });

  it("removes everything on SIGTERM", { timeout: 120_000 }, async (t) => {
    const { environment, accounts, leftovers } = await deploy(t);
    const args = ["--disable-warning=ExperimentalWarning", main, "verify"];
    const child = spawn(process.execPath, args, { env: { ...process.env, ...environment }, stdio: "ignore" });
    await eventually(t.signal, async () => assert.equal(accounts().length, 1));
    child.kill("SIGTERM");
    assert.deepEqual(await once(child, "exit"), [1, null]);
    assert.deepEqual(await leftovers(), nothing);
  });

  it("ends with 6 when the service cannot be reached, and with 2 for wrong usage", async () => {
    const environment = { BREEZEWAY_DATA: join(tmpdir(), "breezeway-no-such-folder") };
    const unreachable = await breezeway(["verify", "--url", "http://127.0.0.1:9"], { environment });
    assert.deepEqual([unreachable.code, unreachable.stdout], [6, ""]);
    assert.match(unreachable.stderr, /Nothing answers at http:\/\/127\.0\.0\.1:9\..*--url/);
    const noClient = await breezeway(["verify", "--url", "http://127.0.0.1:9", "--user", "ada"], { environment });
    assert.equal(noClient.code, 2);
    assert.match(noClient.stderr, /--client-id is missing/);
  });
});

/** A service in a child process behind a proxy, with a simulator. */
async function deploy(t: TestContext, breaking: Fault = {}) {
  const folder = mkdtempSync(join(tmpdir(), "breezeway-verify-"));
  const simulator = await startSimulator({ port: 0 });
  let target = "";
  const url = await breakingProxy(t, () => target, breaking);
  // The service's base URL is the proxy's address; it listens on another port.
  const port = await freePort();
  target = `http://127.0.0.1:${port}`;
  const environment = {
    BREEZEWAY_DATA: join(folder, "data"),
    BREEZEWAY_PORT: String(port),
    BREEZEWAY_BASE_URL: url,
    BREEZEWAY_ECOSYSTEMS: JSON.stringify({ nest: { protocol: "nest", apiUrl: simulator.url } }),
  };
  const { process: child } = await startChild("serve", environment);
  t.after(async () => {
    child.kill("SIGKILL");
    await simulator.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const accounts = () => simulator.accountIds();
  const leftovers = async () => {
    const { stdout } = await breezeway(["tenant", "list", "--json"], { environment });
    const { tenants } = JSON.parse(stdout);
    return { tenants, accounts: accounts(), faults: simulator.faults() };
  };
  return { url, folder, environment, accounts, leftovers };
}

async function attributesOf(url: string, client: object, deviceId: number): Promise<unknown> {
  const body = new URLSearchParams({ grant_type: "client_credentials", ...client });
  const answer = await fetch(`${url}/oauth2/access_token`, { method: "POST", body });
  const { access_token } = (await answer.json()) as { access_token: string };
  const headers = { authorization: `Bearer ${access_token}` };
  const shown = await fetch(`${url}/v3/devices/${deviceId}`, { headers });
  return ((await shown.json()) as { attributes: unknown }).attributes;
}
