import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { adminCalls, onlyOnTheMachine } from "../../src/cli/administration/calls/calls.ts";
import { isAdmin } from "../../src/cli/noun.ts";
import { nouns } from "../../src/cli/nouns.ts";
import type { AdminCall } from "../../src/operators/admin-call.ts";
import { DescribedAnswers, type OpenApi, operationsOf } from "../http/described-answers.ts";
import type { OperatorBrowser } from "./operator-browser.ts";
import { operatorWorld, password } from "./operator-world.ts";

type World = Awaited<ReturnType<typeof operatorWorld>>;

/** The values of path parameters, and what else a call sends. */
interface Sent {
  readonly at?: readonly (string | number)[];
  readonly query?: Readonly<Record<string, string>>;
  readonly json?: object;
}

describe("each command of administrators", () => {
  it("has an address below /admin/v1, or needs the machine itself", () => {
    const commands = nouns.flatMap((noun) => noun.commands).filter(isAdmin);
    const known = new Set([...adminCalls.map(({ act }) => act), ...onlyOnTheMachine]);
    const names = commands.map(({ name }) => name);
    assert.deepEqual(
      names.filter((name) => !known.has(name)),
      [],
    );
    assert.deepEqual(
      [...known].filter((name) => !names.includes(name)),
      [],
    );
  });

  it("answers as the OpenAPI document says, in success and failure, and every documented answer occurs", async (t) => {
    const world = await operatorWorld(t);
    const { service } = world;
    const document: OpenApi = await (await fetch(`${service.baseUrl}/openapi.json`)).json();
    const answers = new DescribedAnswers(document);
    const operations = new Map(operationsOf(document).map((one) => [one.operationId, one]));
    const owner = await world.owner();
    const viewer = await world.invited("vera", { role: "viewer", tenant: ["Acme"] });
    const stranger = world.newBrowser();

    const check = async (call: AdminCall, status: number, browser: OperatorBrowser, sent: Sent, headers = {}) => {
      const values = (sent.at ?? []).values();
      const path = call.path.replace(/:\w+/g, () => encodeURIComponent(String(values.next().value ?? "1")));
      const query = sent.query ? `?${new URLSearchParams(sent.query)}` : "";
      const hasBody = call.method !== "GET" && call.method !== "DELETE";
      const answer = await browser.ask(
        call.method,
        `${path}${query}`,
        hasBody ? (sent.json ?? {}) : undefined,
        headers,
      );
      const body = await answer.text();
      assert.equal(answer.status, status, `${call.act}: ${body}`);
      const id = `admin${call.act.replace(/(^|[ -])(\w)/g, (_, _gap, letter: string) => letter.toUpperCase())}`;
      assert.ok(operations.has(id), id);
      answers.check(id, { status: answer.status, headers: answer.headers, body });
      return body === "" ? {} : JSON.parse(body);
    };

    for (const call of adminCalls) {
      await check(call, 401, stranger, {});
      if (call.need !== "read") await check(call, 403, owner, {}, { "sec-fetch-site": "cross-site" });
      const isForbidden = call.need !== "read" ? call.subject !== "self" : call.subject === "deployment";
      if (isForbidden) await check(call, 403, viewer, {});
    }
    world.clock.aheadMs += 6 * 60_000;
    for (const call of adminCalls.filter(({ asksPassword }) => asksPassword)) await check(call, 403, owner, {});
    await owner.send("/console/password", { password });
    for (const call of adminCalls.filter(({ path, absentCode }) => path.includes(":") && absentCode !== null)) {
      await check(call, 404, owner, { at: [absentId(call), "9"], ...absentFor(call) });
    }
    const fixture = await fixtureOf(world);
    const done = new Set<string>();
    for (const [act, makeSent] of fixture) {
      const call = adminCalls.find((one) => one.act === act)!;
      const isNew = call.method === "POST" && / (add|make|invite)$/.test(act);
      await check(call, isNew ? 201 : 200, owner, await makeSent());
      done.add(act);
    }
    assert.deepEqual(
      adminCalls.map(({ act }) => act).filter((act) => !done.has(act)),
      [callsElsewhere],
    );
    assert.deepEqual(
      answers.unseen().filter((promise) => promise.startsWith("admin")),
      ["adminOutletCheck 200"],
    );
  });
});

/** It calls the assistant's maker; test/assistants runs it against a simulated one. */
const callsElsewhere = "outlet check";

const absentBody = { name: "x", password, role: "viewer", since: "2026-01-01T00:00:00Z", user: 1, tenant: "Acme" };

/** Ids are numbers, names or random text. */
function absentId({ path }: AdminCall): string {
  return /:(user|device)\b/.test(path) ? "2147483647" : "no-such-thing";
}

/** A body may hold only members that the call knows. */
function absentFor({ fields = [], path }: AdminCall): Pick<Sent, "json" | "query"> {
  const members = Object.entries({ ...absentBody, template: "lamp" }).filter(([name]) =>
    fields.some(({ option }) => option === name),
  );
  const json = Object.fromEntries(members.map(([name, value]) => [name, wanted(fields, name, value)]));
  return { json, query: path.startsWith("/grants") ? { user: "1" } : { tenant: "Acme" } };
}

function wanted(fields: AdminCall["fields"], name: string, value: unknown): unknown {
  return fields?.find(({ option }) => option === name)?.kind === "texts" ? [value] : value;
}

/** What each call sends in order to succeed, in an order in which each finds what it needs. */
async function fixtureOf({ run, service }: World): Promise<readonly (readonly [string, () => Sent | Promise<Sent>])[]> {
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
    url: "http://127.0.0.1:9/x",
    deviceIds: [],
    attributes: [],
  });
  const message = { messageId: "m", type: "attribute", body: "{}" };
  const to = { ownerId: webhook.ownerId, webhookId: webhook.id, userId, deviceId: 1 as never };
  const delivery = await store.transaction((tx) => tx.deliveries.add({ ...to, ...message }));
  const { deviceId } = await run("device add", { user, name: "Lamp", type: "Lamp" });
  const listed = async () => (await run("outlet list")).outlets[0].outlet as string;
  await service.parts.operators.takeLink(
    "invitation",
    (await run("operator invite", { name: "bob", role: "viewer" })).path.split("/").at(-1),
    { name: "", password, tenant: "", source: "192.0.2.1", userAgent: "" },
  );
  const token = await run("operator token make", { operator: "bob", name: "ci" });
  const session = (await run("operator sessions list", { operator: "bob" })).sessions[0];
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
    ["user show", () => ({ at: [userId] })],
    ["client list", () => ({})],
    ["client add", () => ({ json: { tenant: "Acme", name: "Two", redirectUri: ["https://v.example/b"] } })],
    ["client show", () => ({ at: [client] })],
    ["client edit", () => ({ at: [client], json: { name: "Voice 2", redirectUri: ["https://v.example/c"] } })],
    ["client rotate-secret", () => ({ at: [client], json: { overlap: 1 } })],
    ["grant list", () => ({ query: { client } })],
    ["hook list", () => ({})],
    ["hook show", () => ({ at: [webhook.id] })],
    ["hook deliveries", () => ({ at: [webhook.id], query: { state: "waiting" } })],
    ["hook delivery", () => ({ at: [webhook.id, delivery] })],
    ["hook resend", () => ({ at: [webhook.id, delivery] })],
    ["hook resend-since", () => ({ at: [webhook.id], json: { since: "2026-01-01T00:00:00Z" } })],
    ["hook test", () => ({ at: [webhook.id] })],
    ["hook rotate", () => ({ at: [webhook.id] })],
    ["grant end", () => ({ at: ["grant-1"], query: { user } })],
    ["link find", () => ({})],
    ["link counts", () => ({})],
    ["device add", () => ({ json: { user: userId, name: "Lamp", type: "Lamp" } })],
    ["device remove", () => ({ at: [deviceId] })],
    ["device-type set", () => ({ at: ["Lamp"], json: { tenant: "Acme", template: "lamp" } })],
    ["device-type list", () => acme],
    ["device-type show", () => ({ at: ["Lamp"], ...acme })],
    ["device-type templates", () => ({})],
    ["device-type remove", () => ({ at: ["Lamp"], ...acme })],
    ["outlet add", () => ({ json: { kind: "alexa", tenant: "Acme", settings: alexa } })],
    ["outlet list", () => ({})],
    ["outlet show", async () => ({ at: [await listed()] })],
    ["outlet deliveries", async () => ({ at: [await listed()] })],
    ["outlet resend", async () => ({ at: [await listed()], json: { user: userId } })],
    ["outlet remove", async () => ({ at: [await listed()] })],
    ["operator list", () => ({})],
    ["operator invite", () => ({ json: { role: "tenantAdmin", tenant: ["Acme"], name: "dora" } })],
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
  ];
}

const alexa = {
  "vendor-id": "M2ABC",
  "skill-id": "amzn1.ask.skill.11111111-2222-3333-4444-555555555555",
  "messaging-client-id": "amzn1.application-oa2-client.1234",
  "messaging-client-secret": "amzn1.oa2-cs.v1.1234",
};
