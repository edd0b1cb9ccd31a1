import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { dataFolder } from "../../src/store/disk/data-folder.ts";
import { takenPort } from "../stories/child-service.ts";
import { clientOfUser } from "../stories/v3-client.ts";
import { person, world } from "../stories/world.ts";
import { folderOf } from "./made-folder.ts";
import { typed } from "./typed.ts";

describe("profiles", () => {
  it("store an address and its credentials, readable only by their owner, after the service has accepted them", async (t) => {
    const { service } = await world(t);
    const url = service.baseUrl;
    const environment = { XDG_CONFIG_HOME: folderOf(t) };
    const { accessToken } = await clientOfUser(() => service, "Story", person);
    const { tenantId } = await service.parts.identity.findTenant("Story");
    const add = (words: readonly string[], input: string) =>
      typed(["profile", "add", "home", "--url", url, ...words], { environment, input });
    const wrong = await add([], "bwa_wrong\n");
    assert.equal(wrong.code, 4);
    assert.deepEqual((await typed(["profile", "list"], { environment })).json, { profiles: [] });

    assert.equal((await add([], `${accessToken}\n`)).code, 0);
    const login = ["--login", person.name, "--app-id", String(tenantId)];
    assert.equal((await add(login, "not it\n")).code, 4);
    assert.equal((await add(login, `${person.password}\n`)).code, 0);
    const file = join(environment.XDG_CONFIG_HOME, "breezeway", "profiles.json");
    if (process.platform !== "win32") assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.ok(!readFileSync(file, "utf8").includes(person.password));

    assert.deepEqual((await typed(["device", "list", "--profile", "home"], { environment })).json, { devices: [] });
    const byName = { ...environment, BREEZEWAY_PROFILE: "home" };
    assert.equal((await typed(["link", "show"], { environment: byName })).code, 5, "signed in, and not linked");
    const shown = await typed(["profile", "show", "home"], { environment });
    assert.deepEqual(shown.json, { name: "home", url, by: ["access token", "user ada"] });
    assert.ok(!shown.out.includes(accessToken));

    const wanted = {
      tenant: "Story",
      name: "Rules",
      kind: "enterprise",
      redirectUris: [],
      requiresPkce: false,
    } as const;
    const { client, secret } = await service.parts.oauth.addClient(wanted);
    assert.equal((await add(["--client", client.id], "wrong\n")).code, 4);
    assert.equal((await add(["--client", client.id], `${secret}\n`)).code, 0);
    const untyped = await typed(["device", "list", "--profile", "home"], { environment });
    assert.equal(untyped.code, 2);
    assert.match(untyped.err, /--type EcosystemAccount/);
    assert.equal((await typed(["profile", "remove", "home"], { environment })).code, 0);
    assert.equal((await typed(["profile", "remove", "home"], { environment })).code, 5);
    assert.ok(!readFileSync(file, "utf8").includes(secret));
  });
});

describe("breezeway config", () => {
  it("prints each setting with its source, and no secret", async () => {
    const nest = { protocol: "nest", apiUrl: "https://a.example" };
    const consent = {
      authUrl: "https://a.example",
      tokenUrl: "https://a.example",
      clientId: "we",
      clientSecret: "hush",
    };
    const environment = {
      BREEZEWAY_DATABASE_URL: "postgres://me:hush@db/x",
      BREEZEWAY_ECOSYSTEMS: JSON.stringify({ nest: { ...nest, ...consent } }),
    };
    const result = await typed(["config", "print", "--port", "0"], { environment });
    const from = Object.fromEntries(result.json.settings.map((one: Record<string, string>) => [one.variable, one]));
    assert.deepEqual([from.BREEZEWAY_PORT.value, from.BREEZEWAY_PORT.from], ["0", "--port"]);
    assert.equal(from.BREEZEWAY_HOST.from, "default");
    assert.deepEqual([from.BREEZEWAY_DATABASE_URL.value, from.BREEZEWAY_DATABASE_URL.from], ["(set)", "environment"]);
    assert.doesNotMatch(result.out, /hush/);
  });

  it("shows a terminal no Markdown, and neither does the help of settings", async () => {
    const shown = await typed(["config", "print"], { columns: 120 });
    assert.match(shown.out, /\nBREEZEWAY_BASE_URL +http:\/\/<host>:<port> +default\n/);
    for (const { out } of [shown, await typed(["serve", "--help"])]) assert.doesNotMatch(out, /`/);
  });

  it("reports all errors at once, with exit code 3", async () => {
    assert.deepEqual((await typed(["config", "check"])).json, { ok: true, problems: [] });
    const environment = { BREEZEWAY_PORT: "eighty", BREEZEWAY_PROT: "1" };
    const result = await typed(["config", "check"], { environment });
    assert.deepEqual([result.code, result.json.problems.length], [3, 2]);
    assert.match(result.err, /has 2 problems/);
  });
});

describe("breezeway doctor", () => {
  const stateOf = async (environment: Record<string, string>) => {
    const result = await typed(["doctor"], { environment });
    const checks = Object.fromEntries(result.json.checks.map((one: Record<string, string>) => [one.check, one]));
    return { result, checks };
  };

  it("reports a machine that is ready, and leaves nothing behind", async (t) => {
    const data = join(folderOf(t), "data");
    const { result, checks } = await stateOf({ BREEZEWAY_DATA: data, BREEZEWAY_PORT: "0" });
    assert.equal(result.code, 0, result.out);
    assert.deepEqual([checks.service.state, checks.service.next], ["warn", "breezeway serve, or npm start"]);
    assert.ok(!existsSync(data));
  });

  it("warns of an https address that neither a certificate nor a trusted proxy serves", async (t) => {
    const data = join(folderOf(t), "data");
    const environment = {
      BREEZEWAY_DATA: data,
      BREEZEWAY_PORT: "0",
      BREEZEWAY_BASE_URL: "https://home.example",
    };
    assert.equal((await stateOf(environment)).checks.TLS?.state, "warn");
    const behindProxy = { ...environment, BREEZEWAY_TRUSTED_PROXIES: "127.0.0.1" };
    assert.equal((await stateOf(behindProxy)).checks.TLS, undefined);
  });

  it("does not take another program for the simulated ecosystem", async (t) => {
    const port = await takenPort(t, "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
    const apiUrl = `http://127.0.0.1:${port}`;
    const nest = { protocol: "nest", apiUrl, allowedHosts: [`127.0.0.1:${port}`] };
    const { checks } = await stateOf({
      BREEZEWAY_DATA: folderOf(t),
      BREEZEWAY_PORT: "0",
      BREEZEWAY_ECOSYSTEMS: JSON.stringify({ nest }),
    });
    assert.deepEqual(
      [checks.nest.state, checks.nest.words],
      ["warn", `${apiUrl} is answered by a program that is no simulator`],
    );
  });

  it("says that another program has the port, also when that one switches protocols", async (t) => {
    const port = await takenPort(
      t,
      "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n",
    );
    const { checks } = await stateOf({ BREEZEWAY_DATA: folderOf(t), BREEZEWAY_PORT: String(port) });
    assert.deepEqual(
      [checks.port.state, checks.port.words],
      ["fail", `${port} on 127.0.0.1 is taken by another program`],
    );
  });

  it("reports the running service, a readable key file and an unreadable store", async (t) => {
    const { config, service } = await world(t);
    const environment = { BREEZEWAY_DATA: config.dataFolder, BREEZEWAY_PORT: "0" };
    const well = (await stateOf(environment)).checks;
    assert.deepEqual([well.service.state, well.database.state, well["key file"].state], ["ok", "ok", "ok"]);
    assert.deepEqual([well.port.state, well.port.words], ["ok", `${service.baseUrl} is the service's`]);
    // Another program has the configured port: doctor must use the port with which the service was started.
    const other = await takenPort(t);
    const elsewhere = (await stateOf({ ...environment, BREEZEWAY_PORT: String(other) })).checks;
    const words = `${service.baseUrl} is the service's (the settings here say port ${other})`;
    assert.deepEqual([elsewhere.port.state, elsewhere.port.words], ["ok", words]);

    const starting = folderOf(t);
    t.after(dataFolder(starting).lock());
    const { port } = (await stateOf({ ...environment, BREEZEWAY_DATA: starting })).checks;
    assert.deepEqual([port.state, port.words], ["warn", "the service does not listen yet"]);

    const broken = folderOf(t);
    writeFileSync(
      join(broken, "breezeway.db"),
      "no database at all, but long enough to be looked at as one".repeat(20),
    );
    writeFileSync(join(broken, "breezeway.key"), "short");
    chmodSync(broken, 0o755);
    const { result, checks } = await stateOf({ BREEZEWAY_DATA: broken, BREEZEWAY_PORT: "0" });
    assert.equal(result.code, 1);
    assert.deepEqual([checks.database.state, checks["key file"].state], ["fail", "fail"]);
    if (process.platform !== "win32") assert.match(checks["data folder"].next, /^chmod 700 /);
    const problem = await stateOf({ BREEZEWAY_PORT: "eighty" });
    assert.deepEqual([problem.result.code, problem.checks.settings.state], [1, "fail"]);
  });
});
