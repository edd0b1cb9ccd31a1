import { virtualDeviceType } from "../../src/model/virtual-device-type.ts";
import type { AdminCall } from "../../src/operators/admin-call.ts";
import { linkOf } from "../contracts/store/home.ts";
import { madeReport } from "../verify/made-report.ts";
import { type operatorWorld, password } from "./operator-world.ts";

type World = Awaited<ReturnType<typeof operatorWorld>>;

/** The values of path parameters, and what else a call sends. */
export interface Sent {
  readonly at?: readonly (string | number)[];
  readonly query?: Readonly<Record<string, string>>;
  readonly json?: object;
}

/** The path below /admin/v1 with its query, and the body where the method has one. */
export function addressOf(call: AdminCall, { at = [], query, json = {} }: Sent) {
  const values = at.values();
  const path = call.path.replace(/:\w+/g, () => encodeURIComponent(String(values.next().value ?? "1")));
  const hasBody = call.method !== "GET" && call.method !== "DELETE";
  return { path: query ? `${path}?${new URLSearchParams(query)}` : path, json: hasBody ? json : undefined };
}

/** What each call sends in order to succeed, in an order in which each finds what it needs. */
export async function fixtureOf(
  { run, service }: World,
  webhookUrl = "http://127.0.0.1:9/x",
): Promise<readonly (readonly [string, () => Sent | Promise<Sent>])[]> {
  const { userId } = await run("user add", { tenant: "Acme", name: "eve", password });
  const user = String(userId);
  const client = (await run("client add", { tenant: "Acme", name: "Voice", "redirect-uri": ["https://v.example/b"] }))
    .client_id;
  const { tenantId } = (await run("tenant list")).tenants[0];
  const { store } = service.parts;
  const grant = { id: "grant-1", tenantId, userId, clientId: client, covers: "user", scope: null } as const;
  await store.transaction((tx) => tx.grants.add(grant));
  const owner = { kind: "user", userId, tenantId, clientId: client } as const;
  const { webhook } = await service.parts.events.webhooks.add(owner, {
    url: webhookUrl,
    deviceIds: [],
    attributes: [],
  });
  const message = { messageId: "m", type: "attribute", body: "{}" };
  const to = { ownerId: webhook.ownerId, webhookId: webhook.id, userId, deviceId: 1 as never };
  const delivery = await store.transaction((tx) => tx.deliveries.add({ ...to, ...message }));
  const { deviceId } = await run("device add", { user, name: "Lamp", type: "Lamp" });
  await store.transaction(async (tx) => {
    const virtual = await tx.devices.add({ userId, typeName: virtualDeviceType, name: "Home", isVirtual: true });
    await tx.links.add(linkOf({ userId, devices: [virtual] } as never, service.parts.membership.id));
  });
  // There is none when the trait map was not set.
  const ownThing = async () => ((await run("home things", { user })).things[0]?.thingId ?? "t_none") as string;
  const { deviceId: lampId } = await run("device add", { user, name: "Second lamp", type: "Lamp" });
  const watched = { user, device: String(lampId), attribute: "power", value: "on", action: "notify" };
  const { alertId } = await run("home alert add", watched);
  // A sample of the calls may leave `outlet add` out.
  const newOutlet = { kind: "alexa", tenant: "Acme", settings: alexa };
  const anOutlet = async () => (await run("outlet list")).outlets[0] ?? (await run("outlet add", newOutlet));
  const listed = async () => (await anOutlet()).outlet as string;
  await service.parts.operators.takeLink(
    "invitation",
    (await run("operator invite", { name: "bob", role: "viewer" })).path.split("/").at(-1),
    { name: "", password, tenant: "", source: "192.0.2.1", userAgent: "" },
  );
  const token = await run("operator token make", { operator: "bob", name: "ci" });
  const session = (await run("operator sessions list", { operator: "bob" })).sessions[0];
  const { verificationId } = await run("verification keep", { report: madeReport() });
  const acme = { query: { tenant: "Acme" } };
  return [
    ["tenant list", () => ({})],
    ["tenant add", () => ({ json: { name: "Third", appId: 77 } })],
    ["tenant show", () => ({ at: ["Third"] })],
    ["tenant rename", () => ({ at: ["Third"], json: { name: "Fourth" } })],
    ["tenant brand", () => ({ at: ["Fourth"], json: { accent: "#0b6470" } })],
    ["tenant terms", () => ({ at: ["Fourth"], json: { file: "Be kind.", version: "1" } })],
    ["tenant remove", () => ({ at: ["Fourth"] })],
    ["user list", () => ({ query: { filter: "ev" } })],
    ["user add", () => ({ json: { tenant: "Acme", name: "other", password } })],
    ["user suspend", () => ({ at: [userId] })],
    ["user resume", () => ({ at: [userId] })],
    ["user unlock", () => ({ at: [userId] })],
    ["user show", () => ({ at: [userId] })],
    ["client list", () => ({})],
    ["client add", () => ({ json: { tenant: "Acme", name: "Two", redirectUri: ["https://v.example/b"] } })],
    ["client show", () => ({ at: [client] })],
    ["names", () => ({ query: { user, client, tenant: String(tenantId) } })],
    ["client edit", () => ({ at: [client], json: { name: "Voice 2", redirectUri: ["https://v.example/c"] } })],
    ["client suspend", () => ({ at: [client] })],
    ["client resume", () => ({ at: [client] })],
    ["client rotate-secret", () => ({ at: [client], json: { overlap: 1 } })],
    ["grant list", () => ({ query: { client } })],
    ["hook list", () => ({})],
    ["hook show", () => ({ at: [webhook.id] })],
    ["hook deliveries", () => ({ at: [webhook.id], query: { state: "waiting" } })],
    ["hook delivery", () => ({ at: [webhook.id, delivery] })],
    ["hook resend", () => ({ at: [webhook.id, delivery] })],
    ["hook resend-since", () => ({ at: [webhook.id], json: { since: "2026-01-01T00:00:00Z" } })],
    ["hook test", () => ({ at: [webhook.id] })],
    ["hook pause", () => ({ at: [webhook.id] })],
    ["hook resume", () => ({ at: [webhook.id] })],
    ["hook rotate", () => ({ at: [webhook.id] })],
    ["request list", () => ({ query: { status: "4xx" } })],
    ["request show", async () => ({ at: [(await run("request list", { limit: "1" })).requests[0].requestId] })],
    ["quota set", () => ({ json: { client, requestsPerMinute: 5_000 } })],
    ["quota show", () => ({ query: { client } })],
    ["quota reset", () => ({ query: { client } })],
    ["grant end", () => ({ at: ["grant-1"], query: { user } })],
    ["link find", () => ({})],
    ["link counts", () => ({})],
    ["device add", () => ({ json: { user: userId, name: "Lamp", type: "Lamp" } })],
    ["device remove", () => ({ at: [deviceId] })],
    ["device-type set", () => ({ at: ["Lamp"], json: { tenant: "Acme", template: "lamp" } })],
    ["home things", () => ({ query: { user } })],
    ["home alarms", () => ({})],
    ["home find", () => ({ query: { text: "lamp" } })],
    [
      "home command",
      async () => ({
        at: [userId, await ownThing()],
        json: { trait: "onOff", command: "set", param: ["on=true"] },
      }),
    ],
    [
      "home alert add",
      () => ({ at: [userId], json: { device: lampId, attribute: "power", value: "on", action: "notify" } }),
    ],
    ["home device write", () => ({ at: [userId, lampId], json: { set: ["power=on"] } })],
    ["home device show", () => ({ at: [userId, lampId] })],
    ["home device history", () => ({ at: [userId, lampId], query: { from: "1h" } })],
    ["home events", () => ({ query: { user, kind: "device" } })],
    ["home alert list", () => ({ query: { user, state: "armed" } })],
    ["home alert show", () => ({ at: [userId, alertId] })],
    ["home alert test", () => ({ at: [userId, alertId], query: { value: "on" } })],
    ["home alert dry-run", () => ({ at: [userId, alertId], query: { from: "2d" } })],
    [
      "home alert preview",
      () => ({ at: [userId], query: { device: String(lampId), attribute: "power", value: "on", action: "notify" } }),
    ],
    [
      "home alert edit",
      () => ({ at: [userId, alertId], json: { device: lampId, attribute: "power", value: "off", action: "notify" } }),
    ],
    ["home alert disable", () => ({ at: [userId, alertId] })],
    ["home alert enable", () => ({ at: [userId, alertId] })],
    ["home alert remove", () => ({ at: [userId, alertId] })],
    ["home show", () => ({ at: [userId, "nest"] })],
    ["home page", () => ({ at: [userId, "nest"], json: { renew: true } })],
    ["home unlink", () => ({ at: [userId, "nest"] })],
    ["device-type list", () => acme],
    ["device-type show", () => ({ at: ["Lamp"], ...acme })],
    ["device-type templates", () => ({})],
    ["device-type remove", () => ({ at: ["Lamp"], ...acme })],
    ["outlet add", () => ({ json: newOutlet })],
    ["outlet list", () => ({})],
    ["outlet show", async () => ({ at: [await listed()] })],
    ["outlet deliveries", async () => ({ at: [await listed()] })],
    [
      "outlet try",
      async () => {
        const { outlet, client_id: clientId } = await anOutlet();
        await store.transaction((tx) => tx.grants.add({ ...grant, id: "of the outlet", clientId }));
        return { at: [outlet], json: { user: userId, message: JSON.stringify(discovery) } };
      },
    ],
    ["outlet resend", async () => ({ at: [await listed()], json: { user: userId } })],
    ["outlet remove", async () => ({ at: [await listed()] })],
    ["operator list", () => ({})],
    ["operator invite", () => ({ json: { role: "tenantAdmin", tenant: ["Acme"], name: "dora" } })],
    ["operator invitations list", () => ({})],
    ["operator invitations end", () => ({ at: ["dora"] })],
    ["operator show", () => ({ at: ["bob"] })],
    ["operator role", () => ({ at: ["bob"], json: { role: "tenantAdmin", tenant: ["Acme"] } })],
    ["operator token make", () => ({ at: ["bob"], json: { name: "deploy", days: 3 } })],
    ["operator token list", () => ({ at: ["bob"] })],
    ["operator token revoke", () => ({ at: [token.tokenId] })],
    ["operator sessions list", () => ({ at: ["bob"] })],
    ["operator sessions end", () => ({ at: [session.sessionId] })],
    ["operator suspend", () => ({ at: ["bob"] })],
    ["operator resume", () => ({ at: ["bob"] })],
    ["operator remove", () => ({ at: ["bob"] })],
    ["status", () => ({})],
    ["ecosystem list", () => ({})],
    ["attention", () => acme],
    ["activity", () => ({})],
    ["system", () => ({})],
    ["self-check", () => ({})],
    ["verification list", () => ({})],
    ["verification show", () => ({ at: [verificationId] })],
    ["audit list", () => ({ query: { operator: "ada", pageSize: "2" } })],
    ["key list", () => ({})],
    ["key add", () => ({})],
    ["key rotate", () => ({})],
    ["key prune", () => ({})],
    ["backup", () => ({ json: { to: "today.backup" } })],
    ["backed-up", () => ({})],
    ["compact", () => ({})],
    ["user set-password", () => ({ at: [userId], json: { password: "battery staple" } })],
    ["user remove", () => ({ at: [userId] })],
    ["client remove", () => ({ at: [client] })],
    // The last, because it changes the store in the background.
    ["verification start", () => ({})],
  ];
}

const discovery = {
  directive: {
    header: { namespace: "Alexa.Discovery", name: "Discover", payloadVersion: "3", messageId: "1" },
    payload: {},
  },
};

const alexa = {
  "vendor-id": "M2ABC",
  "skill-id": "amzn1.ask.skill.11111111-2222-3333-4444-555555555555",
  "messaging-client-id": "amzn1.application-oa2-client.1234",
  "messaging-client-secret": "amzn1.oa2-cs.v1.1234",
};
