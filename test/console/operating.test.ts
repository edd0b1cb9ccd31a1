import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { send, write } from "../events/made-home.ts";
import { addOutlet } from "../isolation/outlets.ts";
import type { OperatorBrowser } from "../operators/operator-browser.ts";
import { administrationWorld, alexa, hostileName, pageText } from "./administration-world.ts";

/** Sends the form of an action, as a page does. */
async function act(browser: OperatorBrowser, command: string, input: Readonly<Record<string, string>>): Promise<void> {
  const answer = await browser.send("/console/do", { act: command, to: "/console", ...input });
  assert.equal(answer.status, 303, await answer.text());
}

const header = { payloadVersion: "3", messageId: "1" };
const discovery = { directive: { header: { namespace: "Alexa.Discovery", name: "Discover", ...header }, payload: {} } };
const acceptGrant = {
  directive: { header: { namespace: "Alexa.Authorization", name: "AcceptGrant", ...header }, payload: {} },
};

describe("an operator in the console", () => {
  it("suspends and resumes a client and a user, and unlocks the user", async (t) => {
    const made = await administrationWorld(t);
    const { clientId, statusOfToken, world } = made;
    const owner = await made.owner();
    const user = String(world.userId);
    for (const [command, input, page] of [
      ["client", { client: clientId }, `/clients/${clientId}`],
      ["user", { user }, `/users/${user}`],
    ] as const) {
      assert.match(await pageText(owner, `${page}?do=suspend`), new RegExp(`breezeway ${command} suspend`));
      await act(owner, `${command} suspend`, input);
      assert.equal(await statusOfToken(), 401);
      const shown = await pageText(owner, page);
      assert.match(shown, /suspended<\/span>/);
      assert.ok(shown.includes("do=resume") && !shown.includes("do=suspend"));
      await act(owner, `${command} resume`, input);
      assert.equal(await statusOfToken(), 200);
    }
    await act(owner, "user unlock", { user });
    const viewer = await made.invited("vera", { role: "viewer" });
    assert.equal((await viewer.send("/console/do", { act: "user suspend", to: "/console", user })).status, 403);
    assert.equal(await statusOfToken(), 200);
  });

  it("reads on the overview what fails and what is paused, with the way to it, and the last 24 hours", async (t) => {
    const made = await administrationWorld(t);
    const { world, token, lamp, run } = made;
    const owner = await made.owner();
    await write(world, token, lamp, { a: "1" });
    assert.match(await pageText(owner, ""), /Nothing that this service knows of/);
    assert.match(await pageText(owner, ""), /Four steps to the first home/);
    const webhook = await made.addWebhook();
    await act(owner, "hook pause", { webhook });
    assert.match(await pageText(owner, ""), /is paused\. Messages that wait: 0/);
    const seenByClient = async () => (await send(`${world.baseUrl}/v3/webhooks`, token, "GET")).body.webhooks[0];
    assert.equal((await seenByClient()).paused, true);
    await act(owner, "hook resume", { webhook });
    assert.ok(!("paused" in (await seenByClient())));
    assert.deepEqual((await run("attention")).findings, []);
    await world.service.parts.store.transaction(async (tx) => {
      const { ownerId } = (await tx.webhooks.listed({ id: webhook, afterId: "", limit: 1 }))[0]!;
      const to = { ownerId, webhookId: webhook, userId: world.userId, deviceId: lamp };
      const id = await tx.deliveries.add({ ...to, messageId: "m", type: "attribute", body: "{}" });
      const delivery = (await tx.deliveries.find({ ownerId, id: webhook }, id))!;
      await tx.deliveries.settle(delivery, "failed", await tx.clock.nowMs(), { status: 500, text: "answered 500" });
    });
    const page = await pageText(owner, "");
    assert.match(page, /fails: answered 500/);
    assert.ok(page.includes(`href="/console/webhooks/${webhook}"`));
    const figures = await run("activity");
    assert.equal(figures.signIns.length, 24);
    assert.ok(figures.signIns.reduce((sum: number, count: number) => sum + count, 0) >= 1);
    assert.ok(figures.changes.at(-1) >= 1, "this node's changes of this hour");
    const ofOther = await run("activity", { tenant: "Other" });
    assert.deepEqual([Math.max(...ofOther.signIns), ofOther.changes], [0, undefined]);

    const stranger = await made.invited("olga", { role: "tenantAdmin", tenant: ["Other"] });
    const text = await pageText(stranger, "");
    assert.match(text, /Nothing of your tenants/);
    assert.match(text, /Disk, certificate, keys and nodes are shown to those who run the whole service/);
  });

  it("sees nodes, store, disk and settings, and a tenant's pages in frames of the console alone", async (t) => {
    const made = await administrationWorld(t);
    const { world, run } = made;
    const owner = await made.owner();
    const system = await pageText(owner, "/system");
    for (const words of [/answers this page/, /SQLite/, /GB free|MB free/, /none of its own/]) {
      assert.match(system, words);
    }
    await run("tenant rename", { tenant: "Acme", name: hostileName });
    await run("tenant terms", { tenant: String(world.tenantId), file: "Be kind.", version: "7" });
    const here = `/console/tenants/${world.tenantId}`;
    for (const [name, words] of [
      ["login", /Sign in/],
      ["terms", /Be kind\./],
      ["link", /Connect your home/],
    ] as const) {
      const preview = await owner.get(`${here}?preview=${name}`);
      const text = await preview.text();
      assert.match(text, words);
      assert.ok(text.includes("&lt;b&gt;Voice") && !text.includes("<b>Voice"));
      assert.match(preview.headers.get("content-security-policy") ?? "", /default-src 'none'.*frame-ancestors 'self'/);
      assert.equal(preview.headers.get("x-frame-options"), "SAMEORIGIN");
    }
    const page = await owner.get(here);
    assert.match(page.headers.get("content-security-policy") ?? "", /frame-ancestors 'none'.*frame-src 'self'/);
    assert.equal((await (await owner.get(here)).text()).match(/<iframe [^>]*sandbox=""/g)?.length, 3);
    assert.match(await (await owner.get(`${here}?preview=other`)).text(), /Its pages/);
  });

  it("finds a home, an operator and a request by id, and connects and checks an assistant by a form", async (t) => {
    const made = await administrationWorld(t);
    const { run } = made;
    const owner = await made.owner();
    assert.match(await pageText(owner, "/search?q=ada"), /Operator <a href="\/console\/operators\/1">/);
    const [{ requestId }] = (await run("request list", { limit: "1" })).requests;
    assert.ok((await pageText(owner, `/search?q=${requestId}`)).includes(`href="/console/requests/${requestId}"`));
    assert.match(await pageText(owner, "/assistants?do=alexa"), /name="settings\.messaging-client-secret" required/);
    // Nothing listens there: the check must not leave this machine.
    const nowhere = {
      "login-url": "http://127.0.0.1:9/token",
      "event-urls": Array(3).fill("http://127.0.0.1:9").join(),
    };
    const fields = Object.fromEntries(
      Object.entries({ ...alexa, ...nowhere }).map(([name, value]) => [`settings.${name}`, value]),
    );
    const sent = { act: "outlet add", to: "/console/assistants", kind: "alexa", tenant: "Acme", ...fields };
    const answer = await owner.send("/console/do", sent);
    assert.match(await answer.text(), /Shown only now(?:.|\n)*bwcs_/);
    const { outlets } = await run("outlet list");
    assert.equal(outlets.length, 1);
    const { outlet } = outlets[0];
    const here = { to: `/console/assistants/${outlet}`, outlet };
    for (const page of ["/assistants", `/assistants/${outlet}`]) {
      const shown = await pageText(owner, page);
      assert.match(shown, /none since all nodes have been up: <time /);
      assert.match(shown, /Report lag(?:.|\n)*none waits(?:.|\n)*Errors of the last reports/);
    }
    const checked = await owner.send("/console/do", { act: "outlet check", ...here });
    assert.match(await checked.text(), /isRight<\/dt><dd><bdi>no/);

    const trial = { act: "outlet try", ...here, user: String(made.world.userId), message: JSON.stringify(discovery) };
    assert.equal((await owner.send("/console/do", trial)).status, 409, "the user has not linked it");
    const { client_id: client } = outlets[0];
    const { tenantId, userId, service } = made.world;
    const grant = { id: "g", tenantId, userId, clientId: client, covers: "user", scope: "devices:read" } as const;
    await service.parts.store.transaction((tx) => tx.grants.add(grant));
    const tried = await owner.send("/console/do", trial);
    const text = await tried.text();
    assert.equal(tried.status, 200, text);
    assert.match(text, /Discover(?:.|\n)*Discover\.Response/);
    for (const message of ["{", "[]", JSON.stringify({ directive: {} }), JSON.stringify(acceptGrant)]) {
      assert.equal((await owner.send("/console/do", { ...trial, message })).status, 400, message);
    }
    await run("user suspend", { user: String(userId) });
    assert.equal((await owner.send("/console/do", trial)).status, 409);
  });

  it("tries messages of Google by hand, with the rights that the user gave it", async (t) => {
    const made = await administrationWorld(t);
    const { run, lamp } = made;
    const { tenantId, userId, service } = made.world;
    const owner = await made.owner();
    await run("device-type set", { type: "Lamp", tenant: "Acme", template: "lamp" });
    const { outlet, id: clientId } = await addOutlet(made.world, "google-home");
    const tryMessage = async (intent: string, payload: object = {}) => {
      const inputs = [{ intent: `action.devices.${intent}`, payload }];
      const message = JSON.stringify({ requestId: "r-1", inputs });
      return owner.call("POST", `/outlets/${outlet}/try`, { user: userId, message });
    };
    assert.equal((await tryMessage("SYNC")).status, 409, "the user has not linked it");
    const grant = { id: "g", tenantId, userId, clientId, covers: "user", scope: "devices:read" } as const;
    await service.parts.store.transaction((tx) => tx.grants.add(grant));
    const synced = await tryMessage("SYNC");
    assert.equal(synced.status, 200, JSON.stringify(synced.body));
    const { requestId, payload } = synced.body.answer;
    assert.equal(requestId, "r-1");
    assert.equal(payload.devices.length, 1);
    const devices = [{ id: payload.devices[0].id }];
    await write(made.world, made.token, lamp, { power: "on" });
    const queried = await tryMessage("QUERY", { devices });
    assert.equal(queried.body.answer.payload.devices[devices[0]!.id].on, true);
    const execution = [{ command: "action.devices.commands.OnOff", params: { on: false } }];
    const executed = await tryMessage("EXECUTE", { commands: [{ devices, execution }] });
    assert.equal(executed.body.answer.payload.commands[0].status, "ERROR", "the user gave no right to control");
    for (const intent of ["DISCONNECT", "OTHER"]) assert.equal((await tryMessage(intent)).status, 400, intent);
    assert.equal((await tryMessage("SYNC")).status, 200, "the link is still there");
    const form = { act: "outlet try", to: `/console/assistants/${outlet}`, outlet, user: String(userId) };
    const message = JSON.stringify({ requestId: "r-2", inputs: [{ intent: "action.devices.SYNC" }] });
    assert.match(await (await owner.send("/console/do", { ...form, message })).text(), /agentUserId/);
  });
});
