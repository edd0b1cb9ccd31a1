import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TestContext } from "node:test";
import pg from "pg";
import { startSimulator } from "../../simulator/simulator.ts";
import { simulatedEcosystemAt } from "../../src/ecosystems/registry.ts";
import { traitMapTemplates } from "../../src/home/trait-map-templates.ts";
import { hashOf, newSecret } from "../../src/identity/secrets.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { type OAuthWorld, oauthWorld, type Tokens } from "../oauth/oauth-world.ts";
import { formOf } from "../oauth/scripted-browser.ts";
import { type Deployment, eventually } from "../stories/world.ts";
import { type AlertAndWebhook, AlertsAndWebhooks } from "./alerts-and-webhooks.ts";
import type { Call, Things } from "./calls.ts";
import type { Address } from "./every-address.ts";
import { rowsOf } from "./lasting-rows.ts";

export const owner = { name: "Ottoline-of-the-home", password: "ottoline's own words" };

/** Unique names and values: an answer that contains one shows something of the owner. */
const planted = {
  lamp: "Lantern-of-Ottoline",
  attribute: "glow-of-Ottoline",
  value: "amber-of-Ottoline",
  message: "Ember-of-Ottoline",
  address: "hook-of-Ottoline",
};

/**
 * The real service with a linked account, and one owner whose home all other callers try to reach. Ids are so large
 * that none appears in an answer by chance.
 */
export async function ownersHome(test: TestContext, database: Deployment) {
  const simulator = await startSimulator({ port: 0 });
  const ecosystems = {
    nest: { ...simulatedEcosystemAt(simulator.url), ...simulatedEcosystemAt(simulator.url).consent },
  };
  const world = await oauthWorld(test, {
    database,
    environment: {
      BREEZEWAY_ECOSYSTEMS: JSON.stringify(ecosystems),
      // Each request may name its own source address, so that one caller's failures delay no other.
      BREEZEWAY_TRUSTED_PROXIES: "127.0.0.1",
      BREEZEWAY_FAILURES_PER_SOURCE: "1000000",
      BREEZEWAY_ALLOW_PRIVATE_WEBHOOKS: "true",
    },
  });
  test.after(() => simulator.stop());
  await useLargeIds(world);
  await world.service.parts.identity.setBrand(world.tenantId, { logo: onePixel });
  const { identity, federation, commit, store, deviceTypes, typeWork } = world.service.parts;
  const userId = await identity.addUser({ tenant: "Acme", ...owner, isAdmin: false });
  const lampId = await world.addDevice(userId, planted.lamp, "Lamp");
  const glow = async () => {
    const changes = [{ key: planted.attribute, value: planted.value }];
    await commit({ userId, cause: { by: "client", user: userId }, updates: [{ deviceId: lampId, changes }] });
  };
  await glow();
  let accounts = 0;
  /** A token of a new account that shares no name and no id with others. */
  const ecosystemToken = () => {
    const name = `House ${++accounts} at the harbour`;
    return simulator.addAccount({ seed: accounts, structures: [{ name, thermostats: 2, alarms: 1 }] }).token;
  };

  /** The id of a command to this thing; there is one afterwards. */
  const commandTo = async (thingId: string): Promise<string> => {
    const caller = { kind: "user", userId } as const;
    const [known] = await federation.control.receipts(caller, thingId);
    const command = { trait: "fanTimer", command: "stop", params: {} } as const;
    return (known ?? (await federation.control.command(caller, thingId, { command, clientId: null }))).id;
  };
  let link:
    | {
        readonly deviceId: DeviceId;
        readonly thingIds: readonly string[];
        readonly commandId: string;
        readonly marks: readonly string[];
      }
    | undefined;
  /** Unlinking removes the alert on the thing. */
  let restoreAlerts = async () => {};
  /** Prepares the state that a call needs, and waits until nothing changes by itself. */
  const arrange = async (needed: "linked" | "unlinked") => {
    const linked = await federation.status(userId, "nest").catch(() => undefined);
    if (needed === "unlinked") {
      if (linked) await federation.unlink(userId, "nest");
      return;
    }
    const deviceId = linked?.deviceId ?? (await federation.link(userId, "nest", ecosystemToken()));
    await eventually(test.signal, async () => {
      const row = await store.read((tx) => tx.links.find(userId, "nest"));
      if (row?.state !== "live" || row.blindness) throw new Error("the owner's link is not live");
    });
    const { labels, identifiers } = await federation.largeStrings(userId, deviceId);
    const marks = [labels, identifiers].flatMap(textsIn).filter((text) => text.length > 8 && text !== "thermostats");
    const things = await store.read((tx) => tx.things.marks(userId, deviceId));
    const alarmsFirst = things.toSorted(
      (a, b) => Number(b.key.startsWith("alarm")) - Number(a.key.startsWith("alarm")),
    );
    const thingIds = alarmsFirst.map(({ thingId }) => thingId);
    const commandId = await commandTo(thingIds[0]!);
    link = { deviceId, thingIds, commandId, marks: marks.filter((text) => text !== "smokeCoAlarms") };
    if (!linked) await restoreAlerts();
  };
  await arrange("linked");

  const login = async (): Promise<Things["login"]> => {
    const browser = world.browser();
    const page = await browser.get(world.authorizeUrl());
    const { transaction = "", csrf = "" } = formOf(page).fields;
    const request = new URL(page.url).searchParams.get("request") ?? "";
    return { request, transaction, csrf, cookie: [...browser.cookies].map((pair) => pair.join("=")).join("; ") };
  };
  /** Signs the owner in without a decision; the browser's cookie is the key. */
  const signIn = async () => {
    const browser = world.browser();
    const { transaction = "", csrf = "" } = formOf(await browser.signIn(world.authorizeUrl(), owner)).fields;
    return { terms: { transaction, csrf }, cookie: [...browser.cookies.values()].join() };
  };
  let tokens: Tokens;
  let code: string;
  let loginPage: Things["login"];
  let termsPage: Awaited<ReturnType<typeof signIn>>;
  const renewAll = async () => {
    tokens = await world.tokens(world.client, owner);
    code = await world.code({}, owner);
    loginPage = await login();
    termsPage = await signIn();
  };
  await renewAll();
  const secToken = () => secTokenOf(world, owner, world.tenantId);
  const alertsAndWebhooks = new AlertsAndWebhooks(test, world, {
    userId,
    lampId,
    thingId: () => link!.thingIds[0]!,
    change: glow,
  });
  let alertAndWebhook: AlertAndWebhook = await alertsAndWebhooks.present(tokens!.access_token);
  restoreAlerts = async () => {
    alertAndWebhook = await alertsAndWebhooks.present(tokens.access_token);
  };

  const { linkSessions } = world.service.parts;
  const company = await world.addClient({ name: "Company", kind: "enterprise", redirectUris: [] });
  const inTenant = { tenantId: world.tenantId, ecosystem: "nest" };
  const nobodysSession = () =>
    linkSessions.create({ kind: "enterprise", ...inTenant, clientId: company.id }, { ...inTenant, mode: "link" });
  let nobodys = await nobodysSession();
  const ownersSession = await linkSessions.create(
    { kind: "user", userId, ...inTenant, clientId: world.client.id },
    { ...inTenant, mode: "renew" },
  );

  const setMap = async (typeName: string) => {
    await deviceTypes.set(world.tenantId, typeName, traitMapTemplates.lamp);
    // The log must have heard of the map before rows are compared. The first call may join a round in progress.
    for (let round = 0; round < 2; round++) await typeWork.run();
  };

  const things = (): Things => {
    let token: string | undefined;
    return {
      tenantId: String(world.tenantId),
      clientId: world.client.id,
      userId: String(userId),
      userName: owner.name,
      lampId: String(lampId),
      linkedId: String(link!.deviceId),
      thingId: link!.thingIds[0]!,
      commandId: link!.commandId,
      alertId: alertAndWebhook.alertId,
      thingAlertId: alertAndWebhook.thingAlertId,
      webhookId: alertAndWebhook.webhookId,
      deliveryId: alertAndWebhook.deliveryId,
      linkSessionId: ownersSession.id,
      linkToken: nobodys.url.split("/").at(-1)!,
      code,
      accessToken: tokens.access_token,
      refreshToken: tokens.refresh_token,
      /** Lazy: making an account in the simulator is expensive, and few calls need one. */
      get ecosystemToken() {
        token ??= ecosystemToken();
        return token;
      },
      login: loginPage,
      terms: termsPage.terms,
    };
  };

  return {
    world,
    userId,
    arrange,
    renewAll,
    things,
    /** The owner's tokens, which the next calls use. */
    tokens: () => tokens,
    code: () => code,
    secToken,
    cookie: () => termsPage.cookie,
    /** The same kinds of objects, but absent ones; everything that isn't the owner's alone stays. */
    absent: (things: Things): Things => ({
      ...things,
      userId: "2147000001",
      userName: owner.name.replace("Ottoline", "Nobodies"),
      lampId: "2147000002",
      linkedId: "2147000003",
      thingId: `t_${newSecret("").slice(0, 22)}`,
      commandId: "c2147000006",
      alertId: "2147000004",
      thingAlertId: "2147000006",
      webhookId: `wh_${newSecret("").slice(0, 16)}`,
      deliveryId: "2147000005",
      linkSessionId: `ls_${newSecret("").slice(0, 22)}`,
      code: newSecret(""),
      accessToken: newSecret("bwa_"),
      refreshToken: newSecret("bwr_"),
      terms: { transaction: newSecret(""), csrf: newSecret("") },
    }),
    /** Gives a device type of the owner's tenant a trait map. */
    setMap,
    /** Replaces what a call has used up. */
    async renew({ rule, method, path }: Address, { parameters }: Call): Promise<void> {
      if (rule === "client" && parameters?.code === code) code = await world.code({}, owner);
      else if (rule === "client" && (await world.statusWith(tokens.access_token)) !== 200) {
        tokens = await world.tokens(world.client, owner);
      }
      if (/alerts|Trigger|webhooks/.test(path)) alertAndWebhook = await alertsAndWebhooks.present(tokens.access_token);
      if (path === "/oauth2/terms" && method === "POST") termsPage = await signIn();
      // The page of the one before has expired or was used.
      if (path.startsWith("/link/sessions")) nobodys = await nobodysSession();
      if (path.startsWith("/v3/device-types")) await setMap("Lamp");
    },
    /** Texts that no other caller may see. */
    marks: (): readonly string[] => [
      ...Object.values(planted),
      ...link!.marks,
      ...link!.thingIds,
      ...[userId, lampId, link!.deviceId].map(String),
      ...[alertAndWebhook.alertId, alertAndWebhook.thingAlertId, alertAndWebhook.webhookId, alertAndWebhook.deliveryId],
      link!.commandId,
      ownersSession.id,
      owner.name,
    ],
    rows: () => rowsOf(world, userId),
  };
}

export type Home = Awaited<ReturnType<typeof ownersHome>>;

const onePixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

export async function secTokenOf(
  { service }: OAuthWorld,
  { name, password }: { readonly name: string; readonly password: string },
  tenantId: number,
): Promise<string> {
  const login = { name, password, appId: String(tenantId), source: "192.0.2.1" };
  return (await service.parts.identity.login(login)).secToken;
}

/** The secret of a new session at the account page. */
export async function accountSession(
  { service, tenantId: usual }: OAuthWorld,
  { name, password }: { readonly name: string; readonly password: string },
  tenantId: number = usual,
): Promise<string> {
  const { account } = service.parts;
  return account.signIn({ tenantId: String(tenantId), name, password, source: "192.0.2.1" });
}

/** The stored form of a token, as a thief of the store would find it. */
export function storedFormOf(secret: string): string {
  return hashOf(secret);
}

/** Makes the next ids of users, devices, alerts, deliveries and commands so large that they are unique in an answer. */
export async function useLargeIds({ folder, databaseUrl }: OAuthWorld): Promise<void> {
  const next = {
    users: 1_700_100_001,
    devices: 1_800_200_001,
    triggers: 1_900_300_001,
    webhook_deliveries: 1_600_400_001,
    thing_commands: 1_500_500_001,
  };
  if (databaseUrl) {
    const database = new pg.Client({ connectionString: databaseUrl });
    await database.connect();
    for (const [table, id] of Object.entries(next)) {
      await database.query(`ALTER TABLE ${table} ALTER COLUMN id RESTART WITH ${id}`);
    }
    return database.end();
  }
  const database = new DatabaseSync(join(folder, "breezeway.db"));
  database.exec("PRAGMA busy_timeout = 5000");
  for (const [table, id] of Object.entries(next)) {
    database.prepare("DELETE FROM sqlite_sequence WHERE name = ?").run(table);
    database.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)").run(table, id - 1);
  }
  database.close();
}

/** Every text in a value, names of members included. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...textsIn(inner)]);
}
