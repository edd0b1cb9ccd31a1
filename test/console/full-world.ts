import type { TestContext } from "node:test";
import { receiver } from "../events/receiver.ts";
import type { WorldPlan } from "../stories/world.ts";
import { madeReport } from "../verify/made-report.ts";
import { alexa, hostileName, password } from "./administration-world.ts";
import { consoleWorld } from "./console-world.ts";

/** A linked house and one of everything that a page of the console shows, most of it with a hostile name. */
export async function fullWorld(t: TestContext, plan: WorldPlan = {}) {
  const made = await consoleWorld(t, { allowsPrivateWebhooks: true, ...plan });
  const { house, run } = made;
  const { parts } = house.service;
  await run("tenant add", { name: "Other" });
  const user = String(house.userId);
  const { tenantId } = await parts.identity.findUser(house.userId);
  const tenant = String(tenantId);
  const lamp = await house.addLamp(hostileName);
  const { client_id: client } = await run("client add", { tenant, name: hostileName, kind: "enterprise" });
  await run("user add", { tenant, name: hostileName, password });
  const { outlet } = await run("outlet add", { kind: "alexa", tenant, settings: alexa });
  const hook = await receiver(t);
  const owning = { kind: "enterprise", tenantId, clientId: client } as const;
  const added = await parts.events.webhooks.add(owning, { url: hook.url, deviceIds: [], attributes: [] });
  const watched = { user, device: String(lamp), attribute: "power", value: "on" };
  const { alertId } = await run("home alert add", { ...watched, action: "notify", message: hostileName });
  const ofUser = { kind: "user", userId: house.userId } as const;
  await parts.devices.write(ofUser, lamp, [{ name: "power", value: "on" }]);
  await hook.until(1);
  parts.recentRequests.add({
    requestId: "request-1",
    method: "GET",
    route: "/v3/devices/:deviceId",
    operation: undefined,
    status: 404,
    code: "unknown_device",
    tookMs: 3,
    bytes: 80,
    caller: { tenantId, userId: house.userId, clientId: client },
    source: "192.0.2.1",
  });
  const webhook = added.webhook.id;
  const { verificationId } = await run("verification keep", { report: madeReport({}, hostileName) });
  return { ...made, user, tenant, lamp, client, outlet, webhook, alert: String(alertId), verificationId };
}

export type FullWorld = Awaited<ReturnType<typeof fullWorld>>;

/** An address of every page, by the path that pages.ts has. */
export function addressesOf(made: FullWorld): Readonly<Record<string, string>> {
  const { user, tenant, lamp, client, outlet, webhook, alert } = made;
  return {
    "": "",
    "/homes": "/homes",
    "/homes/:user/:ecosystem": `/homes/${user}/nest`,
    "/things": `/things?user=${user}`,
    "/devices/:user/:device": `/devices/${user}/${made.deviceId}`,
    "/events": "/events",
    "/alerts": "/alerts",
    "/alerts/new": `/alerts/new?user=${user}&watch=device:${lamp}&attribute=power&value=on&check=1`,
    "/alerts/:user/:alert": `/alerts/${user}/${alert}?value=on&from=24h`,
    "/alerts/:user/:alert/edit": `/alerts/${user}/${alert}/edit?check=1&message=changed`,
    "/search": "/search?q=voice",
    "/webhooks": "/webhooks",
    "/webhooks/:webhook": `/webhooks/${webhook}`,
    "/assistants": "/assistants",
    "/assistants/:outlet": `/assistants/${outlet}`,
    "/users": "/users",
    "/users/:user": `/users/${user}`,
    "/clients": "/clients",
    "/clients/:client": `/clients/${client}`,
    "/tenants": "/tenants",
    "/tenants/:id": `/tenants/${tenant}`,
    "/requests": "/requests",
    "/requests/:request": "/requests/request-1",
    "/audit": "/audit",
    "/system": "/system",
    "/verifications/:verification": `/verifications/${made.verificationId}`,
    "/operators": "/operators",
    "/operators/:operator": "/operators/olga",
    "/sessions": "/sessions",
  };
}

/** Further addresses of the pages about things: lists without a filter, own devices, open forms. */
export function furtherAddresses({ user, lamp, alert }: FullWorld): readonly string[] {
  return [
    "/things",
    "/things?kind=alarm&state=smoke.state%3Dclear",
    `/alerts/${user}/${alert}/edit`,
    "/alerts/new",
    `/alerts/new?user=${user}&check=1`,
    `/devices/${user}/${lamp}`,
    `/devices/${user}/${lamp}?do=write`,
    `/alerts/${user}/${alert}?do=disable`,
    `/events?user=${user}&kind=alert`,
  ];
}
