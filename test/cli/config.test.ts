import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { ConfigurationError, readConfig, refuseInsecure } from "../../src/config/config.ts";
import { runCommand } from "./run-command.ts";

const read = (environment: Record<string, string>, flags: Record<string, string> = {}) =>
  readConfig({ environment, flags });

describe("the configuration", () => {
  it("has defaults that run on a laptop", () => {
    const config = read({ PATH: "/bin" });
    assert.deepEqual([config.host, config.port, config.dataFolder], ["127.0.0.1", 8080, "./breezeway-data"]);
    assert.equal(config.databaseUrl, undefined);
    const [{ consent, ...nest }, ...others] = config.ecosystems as [(typeof config.ecosystems)[number]];
    const apiUrl = "http://127.0.0.1:8090";
    assert.deepEqual(nest, { name: "nest", protocol: "nest", apiUrl, allowedHosts: ["127.0.0.1:8090"] });
    assert.deepEqual([consent?.authUrl, others], [`${apiUrl}/login/oauth2`, []]);
  });

  it("has the simulator's public client only where users reach the service on this machine", () => {
    const hasClient = (environment: Record<string, string>) => read(environment).ecosystems[0]?.consent !== undefined;
    for (const [environment, expected] of [
      [{ BREEZEWAY_BASE_URL: "https://home.example" }, false],
      [{ BREEZEWAY_HOST: "0.0.0.0" }, false],
      [{ BREEZEWAY_BASE_URL: "https://localhost:8443" }, true],
      [{ BREEZEWAY_HOST: "0.0.0.0", BREEZEWAY_BASE_URL: "http://127.0.0.1:9000" }, true],
    ] as const) {
      assert.equal(hasClient(environment), expected, JSON.stringify(environment));
    }
    const nest = { protocol: "nest", apiUrl: "https://a.example", clientId: "c", clientSecret: "s" };
    const flow = { authUrl: "https://a.example/auth", tokenUrl: "https://a.example/token" };
    const configured = JSON.stringify({ nest: { ...nest, ...flow } });
    assert.ok(hasClient({ BREEZEWAY_BASE_URL: "https://home.example", BREEZEWAY_ECOSYSTEMS: configured }));
  });

  it("is valid with the simulator alone at a public address, and says that in words", async () => {
    const address = { BREEZEWAY_BASE_URL: "https://home.example" };
    const words =
      /^Only the simulator's address is configured, http:\/\/127\.0\.0\.1:8090: .* Set BREEZEWAY_ECOSYSTEMS /;
    for (const command of ["check", "print"]) {
      const said = async (environment: Record<string, string>) =>
        (await runCommand(["config", command, "--json"], { environment })).stderr;
      assert.match(await said(address), words);
      assert.equal(await said({ ...address, BREEZEWAY_ECOSYSTEMS: "{}" }), "");
      assert.equal(await said({}), "");
    }
  });

  it("prefers a flag to a variable, and ignores an empty variable", () => {
    assert.equal(read({ BREEZEWAY_PORT: "1" }, { port: "2" }).port, 2);
    assert.equal(read({ BREEZEWAY_PORT: "" }).port, 8080);
  });

  it("reads a secret from the file in its _FILE variable, and refuses both at once", (t) => {
    const folder = mkdtempSync(join(tmpdir(), "breezeway-config-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "url");
    writeFileSync(file, "postgres://db/breezeway\n");
    assert.equal(read({ BREEZEWAY_DATABASE_URL_FILE: file }).databaseUrl, "postgres://db/breezeway");
    const both = { BREEZEWAY_DATABASE_URL_FILE: file, BREEZEWAY_DATABASE_URL: "postgres://db/other" };
    assert.throws(() => read(both), /BREEZEWAY_DATABASE_URL and BREEZEWAY_DATABASE_URL_FILE are both set; keep one/);
  });

  it("reads ecosystems from JSON or from a file of it, and always allows the API's own host", (t) => {
    const folder = mkdtempSync(join(tmpdir(), "breezeway-config-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const json = JSON.stringify({ Nest: { protocol: "nest", apiUrl: "https://home.example/" } });
    const file = join(folder, "ecosystems.json");
    writeFileSync(file, json);
    const expected = [
      { name: "nest", protocol: "nest", apiUrl: "https://home.example", allowedHosts: ["home.example"] },
    ];
    assert.deepEqual(read({ BREEZEWAY_ECOSYSTEMS: json }).ecosystems, expected);
    assert.deepEqual(read({ BREEZEWAY_ECOSYSTEMS: file }).ecosystems, expected);
  });

  const wrong: readonly (readonly [Record<string, string>, RegExp])[] = [
    [{ BREEZEWAY_PORT: "65536" }, /BREEZEWAY_PORT must be a port from 0 to 65535/],
    [{ BREEZEWAY_HOST: "home" }, /BREEZEWAY_HOST must be an IP address or localhost/],
    [{ BREEZEWAY_BASE_URL: "breeze" }, /BREEZEWAY_BASE_URL is "breeze", which is not an address/],
    [{ BREEZEWAY_BASE_URL: "http://example.com" }, /must be https or loopback/],
    [{ BREEZEWAY_BASE_URL: "https://a:b@example.com" }, /must have no user, query or fragment/],
    [{ BREEZEWAY_DATABASE_URL: "mysql://x" }, /must begin with postgres:\/\//],
    [{ BREEZEWAY_ECOSYSTEMS: "{" }, /BREEZEWAY_ECOSYSTEMS is not JSON/],
    [{ BREEZEWAY_ECOSYSTEMS: "{}x" }, /BREEZEWAY_ECOSYSTEMS is not JSON/],
    [{ BREEZEWAY_ECOSYSTEMS: '{"a":1}' }, /must hold an object for a/],
    [
      { BREEZEWAY_ECOSYSTEMS: '{"a":{"protocol":"zigbee"}}' },
      /BREEZEWAY_ECOSYSTEMS must say "protocol": "nest" or "home-assistant" or "google-device-access" for a\./,
    ],
    [
      { BREEZEWAY_ECOSYSTEMS: '{"a":{"protocol":"nest","apiUrl":"https://a.example","authUrl":"https://a.example"}}' },
      /must give authUrl, tokenUrl, clientId, clientSecret together, as texts; tokenUrl of a is missing/,
    ],
    [{ BREEZEWAY_ECOSYSTEMS: "/nowhere" }, /names a file that can't be read/],
    [{ BREEZEWAY_TRUSTED_PROXIES: "10.0.0.1, proxy" }, /holds "proxy", which is not an IP address or range/],
    [{ BREEZEWAY_TRUSTED_PROXIES: "0.0.0.0/0" }, /holds "0\.0\.0\.0\/0", which trusts every caller; name the proxy's/],
    [{ BREEZEWAY_TRUSTED_PROXIES: "::/0" }, /holds "::\/0", which trusts every caller; name the proxy's own range/],
    [{ BREEZEWAY_TRUSTED_PROXIES: "10.0.0.0/" }, /holds "10\.0\.0\.0\/", which is not an IP address or range/],
    [{ BREEZEWAY_TRUSTED_PROXIES: "10.0.0.0/33" }, /holds "10\.0\.0\.0\/33"/],
    [{ BREEZEWAY_TRUSTED_PROXIES: "10.0.0.0/0" }, /holds "10\.0\.0\.0\/0"/],
    [{ BREEZEWAY_TRUSTED_PROXIES: "fd00::/129" }, /holds "fd00::\/129"/],
    [{ BREEZEWAY_TRUSTED_PROXIES: "10.0.0.0/8/8" }, /holds "10\.0\.0\.0\/8\/8"/],
    [{ BREEZEWAY_CORS_ORIGINS: "https://a.example, *" }, /BREEZEWAY_CORS_ORIGINS holds "\*", which is not an origin/],
    [{ BREEZEWAY_CORS_ORIGINS: "https://a.example/" }, /holds "https:\/\/a.example\/", which is not an origin/],
    [{ BREEZEWAY_ALLOW_INSECURE: "yes" }, /must be true or false/],
    [{ BREEZEWAY_TLS_CERT_FILE: "/a" }, /BREEZEWAY_TLS_CERT_FILE and BREEZEWAY_TLS_KEY_FILE go together/],
    [
      { BREEZEWAY_OPERATOR_OIDC_ISSUER: "https://a.example" },
      /OIDC_ISSUER, _CLIENT_ID, .* go together: set all, or none/,
    ],
    [{ BREEZEWAY_METRICS_TOKEN: "short" }, /BREEZEWAY_METRICS_TOKEN must have 16 characters or more/],
    [{ BREEZEWAY_LOGLEVEL: "info" }, /BREEZEWAY_LOGLEVEL is not a setting\. Did you mean BREEZEWAY_LOG_LEVEL\?/],
  ];
  for (const [environment, complaint] of wrong) {
    it(`refuses ${JSON.stringify(environment)} with a sentence`, () => {
      assert.throws(
        () => read(environment),
        (error: Error) => error instanceof ConfigurationError && complaint.test(error.message),
      );
    });
  }

  it("takes addresses and ranges of proxies", () => {
    const proxies = ["127.0.0.1", "10.0.0.0/8", "192.0.2.7/32", "::1", "fd00::/8"];
    assert.deepEqual(read({ BREEZEWAY_TRUSTED_PROXIES: proxies.join(",") }).trustedProxies, proxies);
  });

  it("allows an insecure base URL only with an explicit setting", () => {
    const environment = { BREEZEWAY_BASE_URL: "http://example.com", BREEZEWAY_ALLOW_INSECURE: "true" };
    assert.equal(read(environment).baseUrl, "http://example.com");
    for (const address of ["http://example.com", "http://127.example.com", "http://127.0.0.1.example.com"]) {
      assert.throws(() => read({ BREEZEWAY_BASE_URL: address }), /BREEZEWAY_ALLOW_INSECURE/);
    }
    for (const host of ["0.0.0.0", "::", "192.0.2.1"]) {
      const open = { BREEZEWAY_HOST: host };
      assert.throws(
        () => refuseInsecure(read(open)),
        /BASE_URL must be set to an https address when BREEZEWAY_HOST is/,
      );
      refuseInsecure(read({ ...open, BREEZEWAY_ALLOW_INSECURE: "true" }));
      refuseInsecure(read({ ...open, BREEZEWAY_BASE_URL: "https://example.com" }));
      refuseInsecure(read({ ...open, BREEZEWAY_TLS_CERT_FILE: "/a", BREEZEWAY_TLS_KEY_FILE: "/b" }));
    }
    for (const host of ["127.0.0.1", "::1", "localhost"]) refuseInsecure(read({ BREEZEWAY_HOST: host }));
  });
});
