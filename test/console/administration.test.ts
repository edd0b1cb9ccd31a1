import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { newWebhookSecret, signedHeaders } from "../../src/events/webhooks/signature.ts";
import { write } from "../events/made-home.ts";
import type { OperatorBrowser } from "../operators/operator-browser.ts";
import { eventually } from "../stories/world.ts";
import { administrationWorld, alexa, everyPage, hostileName, pageText, password } from "./administration-world.ts";

const minute = 60_000;
const hour = 60 * minute;

/** Sends the form of an action, as a page does. */
const act = (browser: OperatorBrowser, command: string, input: Readonly<Record<string, string>>) =>
  browser.send("/console/do", { act: command, to: "/console", ...input });

describe("the console's pages of administration", () => {
  it("edit a client, rotate its secret behind the password, and end one grant at once", async (t) => {
    const made = await administrationWorld(t);
    const { clientId, run, statusOfToken } = made;
    const owner = await made.owner();
    const here = `/clients/${clientId}`;
    const edited = await act(owner, "client edit", {
      client: clientId,
      name: hostileName,
      "redirect-uri": "https://one.example/back\r\nhttps://two.example/back",
    });
    assert.equal(edited.status, 303, await edited.text());
    const shown = await run("client show", { client: clientId });
    assert.deepEqual(shown.redirect_uris, ["https://one.example/back", "https://two.example/back"]);
    const page = await pageText(owner, here);
    assert.ok(page.includes("&lt;b&gt;Voice&lt;/b&gt;") && !page.includes("<b>Voice"));
    const wrong = await act(owner, "client edit", { client: clientId, "redirect-uri": "http://plain.example/" });
    assert.equal(wrong.status, 400);
    assert.deepEqual((await run("client show", { client: clientId })).redirect_uris, shown.redirect_uris);

    // The password of the claim counts for 5 minutes. Then the page leads to the password first.
    await made.world.timePasses(6 * minute);
    const form = encodeURIComponent(`/console${here}?do=rotate`);
    assert.ok((await pageText(owner, here)).includes(`/console/password?to=${form}`));
    const early = await act(owner, "client rotate-secret", { client: clientId });
    assert.match(early.headers.get("location") ?? "", /^\/console\/password/);
    const confirmed = await owner.send("/console/password", { password, to: `/console${here}?do=rotate` });
    assert.equal(confirmed.headers.get("location"), `/console${here}?do=rotate`);
    assert.match(
      await pageText(owner, `${here}?do=rotate`),
      /<dialog open[^>]*>(?:.|\n)*breezeway client rotate-secret/,
    );
    const rotated = await act(owner, "client rotate-secret", { client: clientId, to: `/console${here}`, overlap: "1" });
    const secret = /bwcs_[\w-]+/.exec(await rotated.text())?.[0];
    assert.ok(secret);
    assert.ok(!(await pageText(owner, here)).includes(secret));

    const { grants } = await run("grant list", { client: clientId });
    assert.equal(await statusOfToken(), 200);
    const ended = await act(owner, "grant end", { client: clientId, grant: grants[0].grantId });
    assert.equal(ended.status, 303, await ended.text());
    assert.equal(await statusOfToken(), 401);
    const audit = await pageText(owner, "/audit");
    for (const words of ["client edit", "client rotate-secret", "grant end", 'operator <bdi class="name">ada</bdi>']) {
      assert.ok(audit.includes(words), words);
    }
    const file = await owner.get(`/console/audit.csv?client=${clientId}`);
    const lines = (await file.text()).split("\r\n");
    assert.equal(file.headers.get("content-type"), "text/csv; charset=utf-8");
    assert.ok(lines.some((line) => line.includes("grant end")) && !lines.join("").includes(secret));
  });

  it("show a failed delivery with its request and answer, and resend all that failed", async (t) => {
    const made = await administrationWorld(t);
    const { hook, world, token, lamp } = made;
    const webhook = await made.addWebhook();
    hook.behaviour.answer = () => ({ status: 500 });
    await write(world, token, lamp, { level: 7 });
    await hook.until(1);
    await world.timePasses(25 * hour);
    const owner = await made.owner();
    await eventually(t.signal, async () => assert.match(await pageText(owner, `/webhooks/${webhook}`), /failing/));
    const { deliveries } = await made.run("hook deliveries", { webhook });
    const shown = await pageText(owner, `/webhooks/${webhook}?delivery=${deliveries[0].deliveryId}`);
    assert.ok(shown.includes("HTTP 500") && shown.includes("&quot;level&quot;"), shown);
    hook.behaviour.answer = () => ({ status: 204 });
    const before = hook.received.length;
    const form = await pageText(owner, `/webhooks/${webhook}?do=resend`);
    const since = /name="since"[^>]* value="([^"]+)"/.exec(form)?.[1] ?? "";
    const resent = await act(owner, "hook resend-since", { webhook, since });
    assert.equal(resent.status, 303, await resent.text());
    await hook.until(before + 1);
    await eventually(t.signal, async () => assert.match(await pageText(owner, `/webhooks/${webhook}`), /working/));
  });

  it("show a tenant admin nothing of other tenants, and let a viewer change nothing", async (t) => {
    const made = await administrationWorld(t);
    const { run, world } = made;
    const webhook = await made.addWebhook();
    const owner = await made.owner();
    const { outlet } = await run("outlet add", { kind: "alexa", tenant: "Acme", settings: alexa });
    const pages = everyPage(made, webhook, outlet);
    for (const path of pages) await pageText(owner, path);

    const stranger = await made.invited("olga", { role: "tenantAdmin", tenant: ["Other"] });
    for (const path of pages) {
      const answer = await stranger.get(`/console${path}`);
      const text = await answer.text();
      assert.ok(!text.includes("Acme") && !text.includes("M2ABC") && !text.includes("Voice"), path);
      if (/\/\w+\/[^?]/.test(path))
        assert.ok(answer.status === 404 || answer.status === 403, `${path} ${answer.status}`);
    }
    assert.ok(!(await (await stranger.get("/console/audit.csv")).text()).includes("Acme"));
    assert.equal((await stranger.get("/console/audit.csv?tenant=Acme")).status, 404);

    const viewer = await made.invited("vera", { role: "viewer" });
    for (const path of pages) {
      // Only owners see other operators.
      if (path === "/operators/ada") continue;
      const text = await pageText(viewer, path);
      const forms = text.match(/type="hidden" name="act"/g) ?? [];
      assert.deepEqual(path === "/sessions" ? [] : forms, [], path);
      // Every operator may make tokens of their own.
      const others = text.replaceAll(/do%3Dtoken|do=token/g, "");
      assert.ok(!(path === "/sessions" ? others : text).includes("do="), path);
    }
    for (const [command, input] of [
      ["client edit", { client: made.clientId, name: "Other" }],
      ["client remove", { client: made.clientId }],
      ["user remove", { user: String(world.userId) }],
      ["hook test", { webhook }],
      ["tenant rename", { tenant: "Acme", name: "Mine" }],
      ["operator invite", { role: "owner" }],
      ["backup", { to: "mine.backup" }],
    ] as const) {
      assert.equal((await act(viewer, command, input)).status, 403, command);
    }
    assert.equal((await run("client show", { client: made.clientId })).name, "Voice");
  });

  it("make a token that is shown once: of oneself, and as an owner of others", async (t) => {
    const made = await administrationWorld(t);
    const owner = await made.owner();
    const viewer = await made.invited("vera", { role: "viewer" });
    const own = await pageText(viewer, "/sessions");
    assert.ok(own.includes("do=token"), own);
    assert.match(await pageText(viewer, "/sessions?do=token"), /breezeway operator token make --operator \d+/);
    const { operatorId } = await made.run("operator show", { operator: "vera" });
    assert.ok((await pageText(owner, `/operators/${operatorId}`)).includes("do=token"));
    for (const browser of [viewer, owner]) {
      const to = "/console/sessions?done=operator+token+make";
      const answer = await act(browser, "operator token make", {
        operator: String(operatorId),
        name: "ci",
        days: "3",
        to,
      });
      const token = /bwop_[\w-]+/.exec(await answer.text())?.[0];
      assert.ok(token);
      const used = await fetch(`${made.world.baseUrl}/admin/v1/tenants`, {
        headers: { authorization: `Bearer ${token}` },
      });
      assert.equal(used.status, 200);
      assert.ok(!(await pageText(viewer, "/sessions")).includes(token));
    }
    assert.equal((await pageText(viewer, "/sessions")).match(/aria-label="Revoke: ci, of vera"/g)?.length, 2);
    const foreign = await act(viewer, "operator token make", { operator: "ada", name: "mine" });
    assert.equal(foreign.status, 404);
  });

  it("say how late a webhook's messages are, and how a receiver checks them", async (t) => {
    const made = await administrationWorld(t);
    const { hook, world, token, lamp } = made;
    const owner = await made.owner();
    const empty = await pageText(owner, "/webhooks");
    const pages = [...empty.matchAll(/<pre[^>]*>(.*?)<\/pre>/gs)].map(([, text]) => unescaped(text!));
    const snippet = pages.find((text) => text.includes("isGenuine"));
    assert.ok(snippet);
    const secret = newWebhookSecret();
    process.env.WEBHOOK_SECRET = secret;
    const { isGenuine } = await import(`data:text/javascript,${encodeURIComponent(snippet)}`);
    delete process.env.WEBHOOK_SECRET;
    const headers = signedHeaders(secret, { id: "msg_1", body: '{"type":"test"}' }, Date.now());
    assert.equal(isGenuine(headers, '{"type":"test"}'), true);
    assert.equal(isGenuine(headers, '{"type":"other"}'), false);
    assert.equal(isGenuine({ ...headers, "webhook-timestamp": "1" }, '{"type":"test"}'), false);
    assert.equal(isGenuine({}, ""), false);

    const webhook = await made.addWebhook();
    assert.match(await pageText(owner, `/webhooks/${webhook}`), /Lag<\/dt><dd>.*nothing was delivered yet/);
    await write(world, token, lamp, { level: 7 });
    await hook.until(1);
    await eventually(t.signal, async () =>
      assert.match(
        await pageText(owner, `/webhooks/${webhook}`),
        /Lag<\/dt><dd>[\d.]+ m?s, at most [\d.]+ m?s <span class="soft">median and longest time of the last/,
      ),
    );
  });

  it("name the steps of each assistant while none is connected", async (t) => {
    const made = await administrationWorld(t);
    const owner = await made.owner();
    const steps = /enable the HomeGraph API.*skill of the type Smart Home/s;
    assert.match(await pageText(owner, "/assistants"), steps);
    await made.run("outlet add", { kind: "alexa", tenant: "Acme", settings: alexa });
    assert.doesNotMatch(await pageText(owner, "/assistants"), steps);
  });
});

/** The text of an element. */
function unescaped(text: string): string {
  const characters: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', "#39": "'", amp: "&" };
  return text.replaceAll(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => characters[name]!);
}
