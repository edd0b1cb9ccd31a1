import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { folderOf } from "../cli/made-folder.ts";
import { runCommand } from "../cli/run-command.ts";
import { hasOpenssl, makeCertificate } from "../set-up/certificate.ts";
import { freePort } from "../set-up/free-port.ts";
import { installedNginx, missingNginx } from "../set-up/nginx.ts";
import { startChild } from "../stories/child-service.ts";

const sample = (name: string) => readFileSync(new URL(`../../deploy/proxy/${name}`, import.meta.url), "utf8");

interface Proxied {
  readonly folder: string;
  readonly port: number;
  readonly upstream: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** Changes what each deployment changes, and nothing else; throws when the sample no longer has it. */
function changed(text: string, changes: readonly (readonly [from: string, to: string])[]): string {
  for (const [from] of changes) assert.ok(text.includes(from), `the sample has no ${from}`);
  return changes.reduce((result, [from, to]) => result.replaceAll(from, to), text);
}

const proxies: Readonly<Record<string, (about: Proxied) => readonly string[]>> = {
  nginx({ folder, port, upstream, certFile, keyFile }) {
    const site = changed(sample("nginx.conf"), [
      ["127.0.0.1:8080", upstream],
      ["listen 443 ssl", `listen 127.0.0.1:${port} ssl`],
      ["home.example", "localhost"],
      ["/etc/nginx/breezeway/cert.pem", certFile],
      ["/etc/nginx/breezeway/key.pem", keyFile],
      ["/var/log/nginx", join(folder, "logs")],
    ]);
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (one) => `${one}_temp_path ${folder}/${one};`,
    );
    const user = process.getuid?.() === 0 ? "user root;" : "";
    const whole = `${user} pid ${folder}/pid; daemon off; events {} http { ${temporary.join(" ")} ${site} }`;
    writeFileSync(join(folder, "nginx.conf"), whole);
    return ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", join(folder, "logs", "start.log")];
  },
  caddy({ folder, port, upstream, certFile, keyFile }) {
    const whole = changed(sample("Caddyfile"), [
      ["127.0.0.1:8080", upstream],
      ["{\n\tlog {\n\t\tformat", "{\n\tadmin off\n\tauto_https disable_redirects\n\tlog {\n\t\tformat"],
      ["home.example {\n", `https://localhost:${port} {\n\ttls ${certFile} ${keyFile}\n`],
      ["home.example", "localhost"],
      ["/var/log/caddy", join(folder, "logs")],
    ]);
    writeFileSync(join(folder, "Caddyfile"), whole);
    return ["run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"];
  },
};

function installedCaddy(): string | undefined {
  return spawnSync("caddy", ["version"]).status === 0 ? "caddy" : undefined;
}

describe("the samples of a proxy", () => {
  it("log no query, no header and no referrer", () => {
    const nginx = sample("nginx.conf");
    const format = /log_format breezeway ([^;]+);/.exec(nginx)?.[1] ?? "";
    assert.match(format, /\$uri/);
    assert.doesNotMatch(
      format,
      /\$(request|request_uri|args|query_string|arg_\w+|http_\w+|cookie_\w+|sent_http_\w+)\b/,
    );
    assert.match(nginx, /access_log \S+ breezeway;/);
    assert.match(nginx, /error_log +\S+ crit;/);
    const logs = sample("Caddyfile")
      .split(/\n\t?log \{|\{\n\tlog \{/)
      .slice(1);
    assert.equal(logs.length, 2);
    for (const log of logs) {
      for (const line of ['request>uri regexp \\?.* ""', "request>headers delete", "resp_headers delete"]) {
        assert.ok(log.includes(line), line);
      }
    }
  });

  for (const [name, arrange] of Object.entries(proxies)) {
    // The tests fetch nginx, but no Caddy.
    const missing = name === "nginx" ? missingNginx() : undefined;
    const program = name === "nginx" ? installedNginx() : installedCaddy();
    if (name === "caddy" && program === undefined) continue;
    const why = missing ?? (!hasOpenssl && "there is no openssl here");
    it(`of ${name} pass events on at once, and keep secrets out of what they log`, {
      timeout: 180_000,
      skip: why,
    }, async (t) => {
      const folder = folderOf(t);
      mkdirSync(join(folder, "logs"));
      const { certFile, keyFile, cert } = makeCertificate(folder);
      const port = await freePort();
      const home = await madeHome(t, folder, port);
      const about = { folder, port, upstream: new URL(home.upstream).host, certFile, keyFile };
      const said = await started(t, program!, arrange(about), folder, port, cert);
      const call = (path: string, headers = {}) => ask(port, cert, path, headers);

      const query = new URLSearchParams({ name: "ada", password: "a good password", appId: "42" });
      const login = await read(await call(`/zdk/services/zamapi/userLogin?${query}`));
      const secToken = /bws_[\w-]+/.exec(login.body)?.[0];
      assert.ok(secToken, login.body);
      assert.equal((await read(await call(`/zdk/services/zamapi/getDeviceList?secToken=${secToken}`))).status, 200);
      const linking = `/adaptor/federatedtokens?secToken=${secToken}&anEcosystemName=other&anAccessToken=c.canary`;
      assert.equal((await read(await call(linking))).status, 400);
      const metadata = await read(await call("/.well-known/oauth-authorization-server"));
      assert.equal(JSON.parse(metadata.body).issuer, `https://localhost:${port}`);
      assert.equal((await read(await call("/metrics"))).status, 404);

      const authorization = { authorization: `Bearer ${home.accessToken}` };
      const everyName = `x=${"x".repeat(34_000)}`;
      const refused = await read(await call(`/v3/devices/999?${everyName}`, authorization));
      assert.match(refused.body, /unknown_device/, "a query with the names of all attributes reaches the service");
      await assertBatchIsStreamed(port, cert, home);
      const stream = await call("/v3/events", authorization);
      stream.setEncoding("utf8");
      let heard = "";
      // The test's timeout is the deadline: a proxy that buffers would keep the first event until the stream ends.
      for await (const piece of stream) {
        heard += piece;
        if (heard.includes("event: heartbeat")) break;
      }
      stream.destroy();
      home.service.process.kill("SIGKILL");
      await home.service.ended;
      assert.equal(
        (await read(await call(`/v3/users?code=canary-of-the-code&secToken=${secToken}`, authorization))).status,
        502,
      );

      const logs = readdirSync(join(folder, "logs")).map((file) => readFileSync(join(folder, "logs", file), "utf8"));
      const written = `${logs.join("\n")}\n${said()}`;
      assert.match(written, /federatedtokens/);
      for (const secret of [secToken, home.accessToken, "a good password", "c.canary", "canary-of-the-code"]) {
        assert.ok(!written.includes(secret), `the log holds ${secret}:\n${written}`);
      }
    });
  }
});

/** A service for a proxy on that port, with a user and a client that speaks for the tenant. */
async function madeHome(t: TestContext, folder: string, port: number) {
  const environment = {
    BREEZEWAY_DATA: join(folder, "data"),
    BREEZEWAY_PORT: "0",
    BREEZEWAY_BASE_URL: `https://localhost:${port}`,
    BREEZEWAY_TRUSTED_PROXIES: "127.0.0.1",
    BREEZEWAY_PASSWORD: "a good password",
  };
  const run = async (...args: string[]) => JSON.parse((await runCommand([...args, "--json"], { environment })).stdout);
  await run("tenant", "add", "--name", "Acme", "--app-id", "42");
  const { userId } = await run("user", "add", "--tenant", "42", "--name", "ada");
  const made = await run("client", "add", "--tenant", "42", "--name", "All", "--kind", "enterprise");
  const upstreamPort = String(await freePort());
  const service = await startChild("serve", { ...environment, BREEZEWAY_PORT: upstreamPort });
  t.after(() => service.process.kill("SIGKILL"));
  const upstream = `http://127.0.0.1:${upstreamPort}`;
  const body = new URLSearchParams({ grant_type: "client_credentials", ...made });
  const granted = await fetch(`${upstream}/oauth2/access_token`, { method: "POST", body });
  const { access_token: accessToken } = (await granted.json()) as { access_token: string };
  return { service, upstream, accessToken, userId: userId as number };
}

/** Lines of a batch reach the service while more are to come, and are answered meanwhile; larger ones than bodies of other calls too. */
async function assertBatchIsStreamed(
  port: number,
  ca: string,
  { accessToken, userId }: { readonly accessToken: string; readonly userId: number },
): Promise<void> {
  const headers = { host: `localhost:${port}`, authorization: `Bearer ${accessToken}` };
  const sending = request({
    ...{ host: "127.0.0.1", port, ca, servername: "localhost", agent: false, method: "POST" },
    path: "/v3/devices:batch?mode=each",
    headers: { ...headers, "content-type": "application/x-ndjson" },
  });
  const line = (deviceName: string, change: object = {}) =>
    `${JSON.stringify({ userId, deviceTypeName: "Lamp", deviceName, ...change })}\n`;
  sending.write(line("first"));
  const [answer] = (await once(sending, "response")) as [IncomingMessage];
  assert.equal(answer.statusCode, 200);
  answer.setEncoding("utf8");
  const [first] = (await once(answer, "data")) as [string];
  assert.equal(JSON.parse(first).status, 201);
  const text = "x".repeat(8_000);
  const large = { attributes: Object.fromEntries(Array.from({ length: 7 }, (_, i) => [`a${i}`, text])) };
  // 1.7 MB: nginx refuses bodies of more than 1 MB unless its configuration says otherwise.
  for (let i = 0; i < 30; i++) sending.write(line(`large ${i}`, large));
  sending.end();
  let rest = "";
  for await (const piece of answer) rest += piece;
  const statuses = rest
    .trim()
    .split("\n")
    .map((one) => JSON.parse(one).status);
  assert.deepEqual(new Set(statuses), new Set([201]));
  assert.equal(statuses.length, 30);
  await assertStatesPass(port, ca, headers, JSON.parse(first).deviceId);
}

/** States of many devices may be larger than the bodies of other calls, which the proxy refuses. */
async function assertStatesPass(
  port: number,
  ca: string,
  headers: Readonly<Record<string, string>>,
  deviceId: number,
): Promise<void> {
  const put = async (path: string, body: object) => {
    const sending = request({
      ...{ host: "127.0.0.1", port, ca, servername: "localhost", agent: false, method: "PUT", path },
      headers: { ...headers, "content-type": "application/json" },
    });
    sending.end(JSON.stringify(body));
    return read(((await once(sending, "response")) as [IncomingMessage])[0]);
  };
  const values = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`b${i}`, "x".repeat(8_000)]));
  const written = await put("/v3/devices:states", { [deviceId]: values });
  assert.deepEqual(JSON.parse(written.body), { written: [deviceId], failed: [] });
  assert.equal((await put(`/v3/devices/${deviceId}`, values)).status, 413);
}

async function started(t: TestContext, name: string, args: readonly string[], cwd: string, port: number, ca: string) {
  const environment = { ...process.env, HOME: cwd, XDG_DATA_HOME: cwd, XDG_CONFIG_HOME: cwd };
  const child: ChildProcess = spawn(name, args, { cwd, env: environment, stdio: ["ignore", "pipe", "pipe"] });
  t.after(() => child.kill("SIGTERM"));
  let said = "";
  const hear = (piece: Buffer) => {
    said += piece;
  };
  for (const stream of [child.stdout!, child.stderr!]) stream.on("data", hear);
  for (;;) {
    if (child.exitCode !== null) assert.fail(`${name} ended:\n${said}`);
    const isUp = await ask(port, ca, "/livez").then(read, () => undefined);
    if (isUp?.status === 200) return () => said;
  }
}

async function ask(
  port: number,
  ca: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<IncomingMessage> {
  const options = { host: "127.0.0.1", port, path, ca, servername: "localhost", agent: false };
  const asking = request({ ...options, headers: { host: `localhost:${port}`, ...headers } });
  asking.end();
  const [answer] = await once(asking, "response");
  return answer as IncomingMessage;
}

async function read(answer: IncomingMessage) {
  let body = "";
  for await (const piece of answer.setEncoding("utf8")) body += piece;
  return { status: answer.statusCode, body };
}
