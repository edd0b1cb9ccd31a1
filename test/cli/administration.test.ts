import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { isAdmin } from "../../src/cli/noun.ts";
import { nouns } from "../../src/cli/nouns.ts";
import { readConfig } from "../../src/config/config.ts";
import { BadParameter, Conflict, NotFound, UnknownDevice } from "../../src/model/errors.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { openParts, type Parts } from "../../src/service/parts.ts";
import { sharedCluster } from "../set-up/postgres.ts";
import { type Deployment, databases } from "../stories/world.ts";
import { folderOf } from "./made-folder.ts";

const password = "correct horse";
const logo = Buffer.from("89504e470d0a1a0a", "hex").toString("base64");
const termsText = "Be kind to your thermostat.";

/** All parts on a store of their own, without a service: what a command opens when no service runs. */
async function openPartsOn(t: TestContext, database: Deployment = "sqlite") {
  const folder = folderOf(t);
  const databaseUrl = database === "postgres" ? await (await sharedCluster()).createDatabase() : undefined;
  const environment = { BREEZEWAY_DATA: folder, BREEZEWAY_DATABASE_URL: databaseUrl };
  const parts = await openParts(readConfig({ flags: {}, environment }), startLogging("silent"));
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= parts.close());
  t.after(close);
  // biome-ignore lint/suspicious/noExplicitAny: each answer's shape is what the tests look at
  const run = (command: string, input: object = {}): Promise<any> => parts.administration.run(command, input);
  return { folder, parts, run, close };
}

async function entriesOf({ identity }: Parts) {
  return (await identity.audit.list({ limit: 100 })).filter(({ act }) => act === "admin").reverse();
}

for (const database of databases) {
  describe(`an administrator on ${database}`, () => {
    it("leaves an audit entry for each change, without secrets", async (t) => {
      const { folder, parts, run, close } = await openPartsOn(t, database);
      const tenant = "Acme";
      await run("tenant add", { name: tenant, "app-id": "42" });
      await run("tenant brand", { tenant, accent: "#0b6470", "support-url": "https://help.example/", logo });
      const left = await run("tenant brand", { tenant, clear: ["accent"] });
      assert.deepEqual([left.accent, left.supportUrl, left.logo.type], [null, "https://help.example/", "image/png"]);
      await run("tenant terms", { tenant, file: termsText, version: "3" });
      await run("tenant terms", { tenant, clear: true });
      const { userId } = await run("user add", { tenant, name: "the name of ada", password, admin: true });
      await run("user set-password", { user: String(userId), password: "battery staple" });
      const { deviceId } = await run("device add", { user: String(userId), name: "Hall lamp", type: "Lamp" });
      const doomed = (await run("device add", { user: String(userId), name: "Old lamp", type: "Lamp" })).deviceId;
      await run("device remove", { user: String(userId), device: String(doomed) });
      await assert.rejects(run("device remove", { user: String(userId), device: String(doomed) }), UnknownDevice);
      await run("device-type set", { tenant, type: "Lamp", template: "lamp" });
      await run("device-type remove", { tenant, type: "Lamp" });
      const redirect = ["https://voice.example/back"];
      const added = await run("client add", { tenant, name: "Voice", "redirect-uri": redirect, "require-pkce": true });
      const client = added.client_id;
      const edited = await run("client edit", { client, "return-url": ["https://voice.example/linked"] });
      assert.deepEqual([edited.return_urls, edited.vouches_for_users], [["https://voice.example/linked"], false]);
      await assert.rejects(run("client edit", { client }), BadParameter);
      const limited = await run("quota set", { client, "requests-per-minute": "600", "open-streams": "5" });
      assert.deepEqual(limited.quotas.openStreams, { value: 5, isDefault: false });
      assert.deepEqual((await run("quota reset", { tenant })).quotas.openStreams, { value: 30_000, isDefault: true });
      const serviceAccount = {
        client_email: "r@acme.example",
        private_key: "-----BEGIN PRIVATE KEY----- of the outlet",
      };
      const settings = { "project-id": "acme-home", "service-account": JSON.stringify(serviceAccount) };
      const {
        outlet,
        client_id: outletClient,
        client_secret: outletSecret,
      } = await run("outlet add", {
        tenant,
        kind: "google-home",
        settings,
      });
      await run("outlet resend", { outlet, user: String(userId) });
      await run("outlet remove", { outlet });
      const rotated = await run("client rotate-secret", { client, overlap: "12" });
      await run("client remove", { client });
      await assert.rejects(run("tenant remove", { tenant }), Conflict);
      await run("user remove", { user: String(userId) });
      await run("client add", { tenant, name: "Rules", "redirect-uri": redirect });
      assert.deepEqual(await run("tenant remove", { tenant }), { tenantId: 42, name: tenant, removed: { clients: 1 } });
      const next = await run("tenant add", { name: "Another" });
      assert.equal(next.tenantId, 43, "a removed tenant's id, which the audit log still names, is not used again");

      const entries = await entriesOf(parts);
      assert.ok(entries.every(({ source, tenantId }) => source === "command" && tenantId! >= 42));
      assert.deepEqual(
        entries.map((entry) => [entry.userId, entry.clientId, entry.detail]),
        [
          [null, null, { command: "tenant add", name: "Acme" }],
          [
            null,
            null,
            { command: "tenant brand", accent: "#0b6470", "support-url": "https://help.example/", logo: "new" },
          ],
          [null, null, { command: "tenant brand", clear: ["accent"] }],
          [null, null, { command: "tenant terms", version: "3" }],
          [null, null, { command: "tenant terms", clear: true }],
          [userId, null, { command: "user add", admin: true }],
          [userId, null, { command: "user set-password", grants: 0 }],
          [userId, null, { command: "device add", device: deviceId }],
          [userId, null, { command: "device add", device: doomed }],
          [userId, null, { command: "device remove", device: doomed }],
          [null, null, { command: "device-type set", type: "Lamp" }],
          [null, null, { command: "device-type remove", type: "Lamp" }],
          [
            null,
            client,
            { command: "client add", name: "Voice", kind: "user", "redirect-uri": redirect, "require-pkce": true },
          ],
          [
            null,
            client,
            {
              command: "client edit",
              name: "Voice",
              "return-url": ["https://voice.example/linked"],
              "vouches-for-users": false,
            },
          ],
          [null, client, { command: "quota set", name: "Voice", "requests-per-minute": 600, "open-streams": 5 }],
          [null, null, { command: "quota reset", name: "Acme" }],
          [null, outletClient, { command: "outlet add", outlet, kind: "google-home", name: "Google Home" }],
          [userId, outletClient, { command: "outlet resend", outlet, linked: false }],
          [null, outletClient, { command: "outlet remove", outlet, kind: "google-home", grants: 0 }],
          [null, client, { command: "client rotate-secret", overlap: 12 }],
          [null, client, { command: "client remove", name: "Voice", grants: 0 }],
          [
            userId,
            null,
            {
              command: "user remove",
              links: 0,
              devices: 1,
              attributes: 0,
              history: 2,
              blindIntervals: 0,
              alerts: 0,
              webhooks: 0,
              grants: 0,
            },
          ],
          [
            null,
            entries.at(-3)?.clientId,
            { command: "client add", name: "Rules", kind: "user", "redirect-uri": redirect },
          ],
          [null, null, { command: "tenant remove", name: "Acme", clients: 1 }],
          [null, null, { command: "tenant add", name: "Another" }],
        ],
      );
      const reading =
        /^(audit list|status|attention|activity|system|outlet (deliveries|check)|link (find|counts)|home things|[\w-]+ (list|show|templates))$/;
      // Acts on the deployment as a whole are tested in test/store/keys.test.ts, compaction.test.ts,
      // test/events/restored-store.test.ts, test/operations/figures.test.ts, test/console/verification.test.ts, test/console/doctor.test.ts.
      const ofDeployment = /^(backup|backed-up|compact|key \w+|restored|verification start|self-check)$/;
      // These are tested in test/operators/documented-calls.test.ts.
      const ofOperators =
        /^((operator|hook|grant|home) .*|tenant rename|(user|client) (suspend|resume)|user unlock|outlet try)$/;
      const others = [reading, ofDeployment, ofOperators];
      const changing = nouns
        .flatMap(({ commands }) => commands.filter(isAdmin))
        .filter(({ name }) => !others.some((pattern) => pattern.test(name)));
      const written = new Set(entries.map(({ detail }) => detail.command));
      assert.deepEqual(
        changing.filter(({ name }) => !written.has(name)).map(({ name }) => name),
        [],
      );

      const secrets = [password, "battery staple", added.client_secret, rotated.client_secret];
      secrets.push(outletSecret, "of the outlet");
      for (const secret of secrets) assert.ok(!JSON.stringify(entries).includes(secret));
      await close();
      for (const name of database === "sqlite" ? readdirSync(folder) : []) {
        const bytes = readFileSync(join(folder, name));
        // No text of the user is left, and erased data is overwritten in the file.
        for (const text of [...secrets, "the name of ada", termsText])
          assert.ok(!bytes.includes(text), `${name}: ${text}`);
      }
    });

    it("reads without leaving an audit entry", async (t) => {
      const { parts, run } = await openPartsOn(t, database);
      await parts.identity.addTenant({ name: "Acme", appId: 42 });
      await parts.identity.addUser({ tenant: "Acme", name: "ada", password, isAdmin: true });
      await run("tenant list");
      await run("status");
      const { users } = await run("user list", { tenant: "Acme" });
      const { clients } = await run("client list");
      assert.deepEqual([users.length, clients], [1, []]);
      const { created, ...ada } = users[0];
      assert.deepEqual(ada, { userId: ada.userId, name: "ada", admin: true, suspended: false, tenant: "Acme" });
      assert.equal(new Date(created).toISOString(), created);
      assert.deepEqual(await run("tenant show", { tenant: "42" }), {
        tenantId: 42,
        name: "Acme",
        accent: null,
        supportUrl: null,
        logo: null,
        terms: null,
      });
      assert.deepEqual(await run("audit list"), { entries: [] });
    });
  });
}

describe("an administrator", () => {
  it("whose command fails leaves no entry, and gets the command to run next", async (t) => {
    const { parts, run } = await openPartsOn(t);
    const isHelpful = (next: RegExp) => (error: unknown) => error instanceof NotFound && next.test(error.message);
    const user = "99";
    const client = "bwc_none";
    await assert.rejects(run("user remove", { user }), isHelpful(/There is no user 99.* breezeway user list/));
    await assert.rejects(run("user set-password", { user, password }), isHelpful(/breezeway user list/));
    await assert.rejects(run("device add", { user, name: "Lamp", type: "Lamp" }), isHelpful(/breezeway user list/));
    await assert.rejects(run("client remove", { client }), isHelpful(/There is no client .*breezeway client list/));
    await assert.rejects(run("client rotate-secret", { client }), isHelpful(/breezeway client list/));
    for (const command of ["tenant show", "user list", "client list", "audit list"]) {
      await assert.rejects(run(command, { tenant: "Nobody" }), isHelpful(/breezeway tenant list/), command);
    }
    await assert.rejects(run("tenant fly"), isHelpful(/no command "tenant fly"/));
    await assert.rejects(run("constructor"), NotFound);
    assert.deepEqual(await entriesOf(parts), []);
  });

  it("gets the name of the wrong option", async (t) => {
    const { run } = await openPartsOn(t);
    const tenant = "Acme";
    await run("tenant add", { name: tenant });
    const wrong: readonly (readonly [string, object, RegExp])[] = [
      ["tenant add", {}, /--name is missing/],
      ["tenant add", { name: "Other", "app-id": "0" }, /--app-id must be a number from 1 to 2147483647/],
      ["tenant brand", { tenant }, /Nothing to change/],
      ["tenant brand", { tenant, clear: ["logo"], logo }, /--logo is both given and cleared/],
      ["tenant terms", { tenant, file: termsText }, /--version is missing/],
      ["tenant terms", { tenant, version: "1" }, /--file is missing/],
      ["tenant terms", { tenant, clear: true, version: "1" }, /leave out --file and --version/],
      ["user add", { tenant, name: "ada" }, /--password is missing/],
      ["user remove", { user: "ada" }, /The user's id must be a number/],
      ["client add", { tenant, name: "Voice" }, /at least one --redirect-uri/],
      ["client rotate-secret", { client: "x", overlap: "soon" }, /--overlap must be a number from 0 to 720/],
      ["client rotate-secret", { client: "x", overlap: "721" }, /--overlap must be a number from 0 to 720/],
      ["client rotate-secret", { client: "x", overlap: "-1" }, /--overlap must be a number from 0 to 720/],
      ["quota show", {}, /either --tenant or --client/],
      ["quota set", { tenant, client: "bwc_x", "open-streams": "1" }, /either --tenant or --client/],
      ["quota set", { tenant }, /Nothing to set.*--requests-per-minute, --open-streams, --commands-per-minute/],
      ["quota set", { tenant, "open-streams": "0" }, /--open-streams must be a number from 1 to 100000000/],
      ["request list", { limit: "501" }, /--limit must be a number from 1 to 500/],
      ["request list", { status: "bad" }, /--status must be a status such as 404/],
      ["audit list", { limit: "0" }, /--limit must be a number from 1 to 10000/],
    ];
    for (const [command, input, sentence] of wrong) {
      const isExpected = (error: unknown) => error instanceof BadParameter && sentence.test(error.message);
      await assert.rejects(run(command, input), isExpected, JSON.stringify([command, input]));
    }
  });

  it("rotates a secret: the old one stays valid for the overlap, or ends at once", async (t) => {
    const { parts, run } = await openPartsOn(t);
    await run("tenant add", { name: "Acme" });
    const add = { tenant: "Acme", name: "Fleet", kind: "enterprise" };
    const { client_id: clientId, client_secret: first } = await run("client add", add);
    const works = (secret: string) =>
      parts.oauth.authenticateClient({ clientId, secret, source: "192.0.2.1" }).then(
        () => true,
        () => false,
      );
    const beforeMs = Date.now();
    const { client_secret: second, ...rest } = await run("client rotate-secret", { client: clientId });
    assert.deepEqual(rest, { client_id: clientId });
    const stored = await parts.store.read((tx) => tx.clients.byId(clientId));
    const leftMs = stored!.secrets.find(({ endsMs }) => endsMs !== null)!.endsMs! - beforeMs;
    assert.ok(leftMs >= 24 * 3_600_000 && leftMs < 25 * 3_600_000, `the old secret is valid for ${leftMs} ms`);
    assert.deepEqual([await works(first), await works(second)], [true, true]);
    const { client_secret: third } = await run("client rotate-secret", { client: clientId, overlap: "0" });
    assert.deepEqual([await works(first), await works(second), await works(third)], [false, false, true]);
    const { clients } = await run("client list", { tenant: "Acme" });
    assert.deepEqual(
      { ...clients[0], created: "" },
      {
        client_id: clientId,
        name: "Fleet",
        tenant: "Acme",
        kind: "enterprise",
        redirect_uris: [],
        require_pkce: false,
        return_urls: [],
        vouches_for_users: false,
        sends_issuer: true,
        suspended: false,
        created: "",
      },
    );
  });
});
