import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it, type TestContext } from "node:test";
import { traitNames, traits } from "../../src/home/catalogue.ts";
import { describedRoutes } from "../../src/http/documentation/described-route.ts";
import { curl } from "../../src/http/documentation/reference/curl.ts";
import { referencePage } from "../../src/http/documentation/reference/reference-page.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { scopes } from "../../src/model/scopes.ts";
import { startOutlets } from "../../src/outlets/serve.ts";
import { assertAccessible } from "../browser/axe.ts";
import { browserOfFile } from "../browser/world.ts";
import { publishedAttributes } from "../samples/published-attributes.ts";
import { missingChromium } from "../set-up/chromium.ts";
import { isAll } from "../set-up/extent.ts";
import { person } from "../stories/world.ts";
import { bodyOf, documentedWorld } from "./documented-answers/documented-world.ts";
import { madeTable, unusedParts } from "./made-table.ts";
import { readCurl } from "./read-curl.ts";

/** A server with the page; its other routes have no parts. */
async function served(t: TestContext, baseUrl = () => "https://breezeway.example") {
  const report = { debug() {}, info() {}, warn() {}, error() {} };
  const parts = { ...unusedParts, host: "127.0.0.1", port: 0, report, callers: {} as never };
  const server = await startOutlets({ ...parts, baseUrl });
  t.after(() => server.stop());
  return server;
}

const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found]) => found!);
const textOf = (html: string) =>
  html.replace(/<[^>]*>/g, "").replace(/&(lt|gt|quot|amp|#39);/g, (_, name: string) => signs[name]!);
const signs: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', amp: "&", "#39": "'" };

describe("the reference", () => {
  it("is one page with its own style, and its policy forbids everything else", async (t) => {
    const { url } = await served(t);
    const answer = await fetch(`${url}/docs`);
    const html = await answer.text();
    assert.equal(answer.headers.get("content-type"), "text/html; charset=utf-8");
    assert.equal(answer.headers.get("cache-control"), "no-store");
    assert.equal(answer.headers.get("referrer-policy"), "no-referrer");
    assert.equal(answer.headers.get("x-frame-options"), "DENY");
    const [style] = matches(html, /<style>([\s\S]*?)<\/style>/g);
    const hash = createHash("sha256").update(style!).digest("base64");
    assert.deepEqual(answer.headers.get("content-security-policy")?.split("; "), [
      "default-src 'none'",
      `style-src 'sha256-${hash}'`,
      "img-src data:",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
    assert.doesNotMatch(html, /<script|<iframe|<form|<img|<object|\son\w+=|\sstyle=|javascript:|@import|url\(/i);
    const targets = matches(html, /(?:href|src)="([^"]*)"/g).filter((target) => !target.startsWith("#"));
    assert.deepEqual(
      new Set(targets.map((target) => target.split(",")[0])),
      new Set(["data:image/svg+xml", "openapi.json"]),
    );
    // The names of all attributes take 30,000 characters, an operation takes 5,000 on average.
    const operations = matches(html, /<section ([^>]*id="[^"]*")/g).length;
    assert.ok(html.length < 40_000 + 5_500 * operations, `${html.length} characters for ${operations} operations`);
  });

  it("names each of the 519 attributes, collapsed, with its access, type and values", async (t) => {
    const { url } = await served(t);
    const html = await (await fetch(`${url}/docs`)).text();
    const [section = ""] = matches(html, /<section [^>]*id="attributes"[^>]*>([\s\S]*?)<\/section>/g);
    const groups = matches(section, /<details class="attributes">([\s\S]*?)<\/details>/g)
      .map(textOf)
      .join("\n");
    const names = textOf(matches(section, /<details class="names">([\s\S]*?)<\/details>/g).join("\n")).split("\n");
    for (const { name, type, isWritable } of publishedAttributes()) {
      assert.ok(
        names.some((line) => line.endsWith(name)),
        name,
      );
      const pattern = name.replace(/structures\[\d+\]/, "structures[X]").replace(/(\.d\.\w+)\[\d+\]/, "$1[Y]");
      const row = `${pattern} ${type} ${isWritable ? "writable" : "read-only"}\n`;
      assert.ok(groups.includes(row), row);
    }
  });

  it("shows the fields, capabilities and commands of each trait, collapsed", async (t) => {
    const { url } = await served(t);
    const html = await (await fetch(`${url}/docs`)).text();
    const [section = ""] = matches(html, /<section [^>]*id="traits"[^>]*>([\s\S]*?)<\/section>/g);
    const shown = matches(section, /<details class="attributes">([\s\S]*?)<\/details>/g);
    assert.equal(shown.length, traitNames.length);
    for (const [at, name] of traitNames.entries()) {
      const { fields, capabilities, commands } = traits[name];
      assert.deepEqual(matches(shown[at]!, /<summary>(\w+)</g), [name]);
      const rows = shown[at]!.matchAll(/class="name">(\w+)<[^>]*> <[^>]*>[a-z ]+<[^>]*> <span class="note">(\w+)</g);
      assert.deepEqual(
        [...rows].map(([, row, what]) => [row, what]),
        [
          ...Object.entries(fields).map(([field, { kind }]) => [field, kind]),
          ...Object.keys(capabilities).map((capability) => [capability, "capability"]),
        ],
      );
      const shownCommands = matches(shown[at]!, /class="name">(\w+)<\/code> <span class="note">command</g);
      assert.deepEqual(shownCommands, Object.keys(commands));
      for (const { parameters } of Object.values(commands)) {
        for (const parameter of Object.keys(parameters)) assert.ok(textOf(shown[at]!).includes(`${parameter} (`));
      }
    }
  });

  it("is rendered once, and the document too", async (t) => {
    let renderings = 0;
    const { url } = await served(t, () => {
      renderings++;
      return "https://breezeway.example";
    });
    for (const path of ["/docs", "/openapi.json"]) {
      const first = await (await fetch(url + path)).text();
      const renderingsBefore = renderings;
      assert.equal(await (await fetch(url + path)).text(), first);
      assert.equal(renderings, renderingsBefore);
    }
  });

  it("describes every operation, and has a target for every link", () => {
    const { html } = referencePage(madeTable(), { version: "1.2.3", baseUrl: "https://breezeway.example" });
    const ids = matches(html, /\sid="([^"]*)"/g);
    assert.deepEqual(ids, [...new Set(ids)]);
    const linked = new Set(matches(html, /href="#([^"]*)"/g));
    assert.deepEqual(
      [...linked].filter((id) => !ids.includes(id)),
      [],
    );
    const sections = new Map(
      matches(html, /<section([\s\S]*?<\/section>)/g).map((section) => [/id="([^"]*)"/.exec(section)![1], section]),
    );
    for (const { methods, path, description, errorShape } of describedRoutes(madeTable())) {
      // /docs leaves out what only operators call (src/http/documentation/reference-routes.ts).
      if (description.tag === "Console pages" || description.tag === "Administration") continue;
      const section = sections.get(description.operationId) ?? "";
      const words = textOf(section);
      const named = [path, description.summary, ...methods.filter((method) => method !== "HEAD")];
      const parameters = (description.parameters ?? []).map(({ name }) => name);
      const codes = (description.errors ?? []).map(({ code }) => String(code));
      const statuses = description.answers.map(({ status }) => String(status));
      for (const word of [...named, ...parameters, ...codes, ...statuses]) {
        assert.ok(words.includes(word), `${description.operationId} doesn't mention ${word}`);
      }
      assert.ok(linked.has(description.operationId), description.operationId);
      const isCalled = errorShape !== "page";
      assert.equal(
        words.includes("curl "),
        isCalled,
        `${description.operationId} has ${isCalled ? "no" : "a"} command`,
      );
    }
    assert.match(html, /https:\/\/breezeway\.example\/v3\/users/);
    assert.match(html, /Version 1\.2\.3/);
  });

  it("escapes the version and the base URL", () => {
    const { html } = referencePage(madeTable(), { version: "<b>", baseUrl: "https://a.example/?'<script>" });
    assert.doesNotMatch(html, /<b>|<script/);
  });

  it("shows commands that work unchanged", async (t) => {
    const { baseUrl, operations, platform, accountToken, parts, userId, addLamp, addClient, code, call, check } =
      await documentedWorld(t);
    const methods = new Map(operations.map(({ operationId, method }) => [operationId, method]));
    const companysOwn = operations.filter(({ tags }) => tags.includes("Provisioning"));
    const client = await addClient("user");
    const company = { ...(await addClient("enterprise")), grant_type: "client_credentials" };
    const { access_token: companysToken } = await call("issueToken", 200, { json: company });
    const html = await (await fetch(`${baseUrl}/docs`)).text();
    const commands = new Map(
      matches(html, /<section([\s\S]*?<\/section>)/g).flatMap((section) => {
        const [shown] = matches(section, /<figcaption>Request<\/figcaption><pre[^>]*>([\s\S]*?)<\/pre>/g);
        return shown === undefined ? [] : [[/id="([^"]*)"/.exec(section)![1]!, textOf(shown)] as const];
      }),
    );
    const { tenantId } = await parts.identity.findTenant("Story");
    const variables: Record<string, string> = {
      PASSWORD: person.password,
      SEC_TOKEN: platform.secToken,
      ECOSYSTEM_TOKEN: accountToken,
      CLIENT_ID: client.client_id,
      CLIENT_SECRET: client.client_secret,
      // A token without scopes may not command thermostats.
      CODE: await code(client.client_id, scopes.join()),
      TOKEN: "bwa_nonsense",
    };
    const lampId = await addLamp("Hall lamp");
    /** Values in the examples, and the real values to use instead. */
    const examples: [example: RegExp, real: string][] = [
      [/\b40\b/g, String(lampId)],
      [/"userId":3\b/g, `"userId":${userId}`],
      [/appId=1\b/g, `appId=${tenantId}`],
      [/applications\/1\b/g, `applications/${tenantId}`],
      [/"ada","password":"…"/g, `"${person.name}","password":"${person.password}"`],
    ];
    const run = async (operationId: string, status = 200) => {
      const command = commands.get(operationId) ?? assert.fail(`${operationId} has no command`);
      const isCompanysOwn = companysOwn.some((one) => one.operationId === operationId);
      const { url, init } = readCurl(
        examples.reduce((text, [example, real]) => text.replaceAll(example, real), command),
        isCompanysOwn ? { ...variables, ACCESS_TOKEN: companysToken } : variables,
      );
      // Addresses end up in logs and histories.
      for (const secret of Object.values(variables)) assert.ok(!url.includes(encodeURIComponent(secret)), command);
      const answer = await fetch(url, init);
      const documentedId = [operationId, `${operationId}ByPost`].find((id) => methods.get(id) === init.method) ?? "";
      commands.delete(operationId);
      return check(documentedId, status, {
        status: answer.status,
        headers: answer.headers,
        body: await bodyOf(answer),
      });
    };
    variables.ACCESS_TOKEN = (await run("issueToken")).access_token;
    const returnUrls = ["https://lantern.example/linked"];
    await parts.oauth.editClient(client.client_id, { returnUrls });
    const { id: linkSessionId } = await run("createLinkSession", 201);
    examples.push([/ls_3q2-7wAAAAAAAAAAAAAAAA/g, linkSessionId]);
    const linkedId = (await run("linkAccount")).DeviceId;
    examples.push([/\b41\b/g, linkedId]);
    const [thing] = await parts.store.read((tx) => tx.things.marks(userId, Number(linkedId) as DeviceId));
    examples.push([/t_Zk3xV0bqT2m8cQx1r5sYwA/g, thing!.thingId]);
    const { commandId } = await run("sendThingCommand", 202);
    examples.push([/commands\/c12\b/g, `commands/${commandId}`]);
    // The examples of both interfaces use alert 7, and each removes it.
    const triggerId = /<triggerId>(\d+)</.exec(await run("addTrigger"))![1]!;
    examples.push([/triggerId=7\b/g, `triggerId=${triggerId}`]);
    examples.push([/alerts\/7\b/g, `alerts/${(await run("createAlert", 201)).alertId}`]);
    const { webhookId } = await run("addWebhook", 201);
    examples.push([/wh_9mS1rL0c2VbQhZkD/g, webhookId]);
    const deliveryId = await parts.store.transaction(async (tx) => {
      const sent = { messageId: "msg_1", type: "device", body: "{}" };
      return tx.deliveries.add({ ownerId: userId, webhookId, userId, deviceId: lampId as DeviceId, ...sent });
    });
    examples.push([/deliveries\/12\b/g, `deliveries/${deliveryId}`]);
    await run("resendDelivery", 202);
    await run("addDevice", 201);
    await run("setDeviceType");
    const removals = ["removeDeviceType", "removeDevice"];
    const last = ["removeAlert", "removeTrigger", "removeWebhook", "unlinkAccount", "userLogout", "revokeToken"];
    const atEnd = [...last, ...removals];
    // Only a token of an outlet's own client is accepted, and this client has no outlet.
    await run("fulfilGoogleHome", 401);
    for (const operationId of [...commands.keys()].filter((id) => !atEnd.includes(id))) await run(operationId);
    for (const operationId of last) await run(operationId);
    for (const operationId of removals) await run(operationId, 204);
    assert.equal(commands.size, 0);
  });
});

describe("a sample command", () => {
  const plain = { method: "GET", path: "/x", query: [], form: [], json: undefined, authorization: undefined } as const;

  it("quotes characters that are special in a shell", () => {
    const value = `it's "100%" $HOME \`ls\` [1] & more; \\ ü`;
    for (const request of [
      { ...plain, query: [{ name: "a", value }] },
      { ...plain, method: "POST", form: [{ name: "a", value }] } as const,
      { ...plain, method: "DELETE", query: [{ name: "a", value }] } as const,
    ]) {
      const { url, init } = readCurl(curl(request, "https://a.example"), {});
      assert.equal(init.method, request.method);
      const sent = new URLSearchParams(String(init.body ?? new URL(url).search));
      assert.deepEqual([...sent], [["a", value]]);
    }
    const json = { text: value };
    const { init } = readCurl(curl({ ...plain, method: "PUT", json }, "https://a.example"), {});
    assert.deepEqual(JSON.parse(String(init.body)), json);
    assert.equal(init.headers["content-type"], "application/json");
  });

  it("takes secrets from variables, and puts none into the address of a POST", () => {
    const request = { ...plain, method: "POST", form: [{ name: "password", variable: "PASSWORD" }] } as const;
    const command = curl(request, "https://a.example");
    assert.match(command, /"password=\$PASSWORD"/);
    const { url, init } = readCurl(command, { PASSWORD: "a&b c" });
    assert.equal(url, "https://a.example/x");
    assert.equal(init.body, "password=a%26b%20c");
    const basic = { scheme: "Basic", variables: ["CLIENT_ID", "CLIENT_SECRET"] } as const;
    const { init: byClient } = readCurl(curl({ ...plain, authorization: basic }, "https://a.example"), {
      CLIENT_ID: "me",
      CLIENT_SECRET: "word",
    });
    assert.equal(byClient.headers.authorization, `Basic ${Buffer.from("me:word").toString("base64")}`);
  });
});

const skip = missingChromium() ?? false;

/** Leaves the page its beginning and every sixth section with its links: axe takes half a minute for all of them. */
const thinOut = `(kept) => {
  const operations = [...document.querySelectorAll("section.operation:not(.chapter)")];
  for (const [nth, { id }] of operations.entries()) {
    if (nth === 0 || nth % 6 === kept) continue;
    for (const link of document.querySelectorAll("li > a[href='#" + id + "']")) link.parentElement.remove();
    document.getElementById(id).remove();
  }
}`;

describe("the reference in a browser", { skip }, () => {
  const browser = browserOfFile();

  // Axe checks each width and each scheme once, because it is slow on a page of this length.
  for (const { width, colorScheme, hasMenu } of [
    { width: 390, colorScheme: "light", hasMenu: true },
    { width: 1440, colorScheme: "dark", hasMenu: false },
  ] as const) {
    it(`is accessible, fits ${width} pixels, and sends no request`, async (t) => {
      const { url } = await served(t);
      const context = await browser().newContext({ viewport: { width, height: 844 }, colorScheme });
      t.after(() => context.close());
      const requested: string[] = [];
      const complaints: string[] = [];
      context.on("request", (request) => requested.push(request.url()));
      context.on("console", (message) => complaints.push(message.text()));
      const tab = await context.newPage();
      await tab.goto(`${url}/docs`);
      assert.deepEqual(
        requested.filter((address) => !address.startsWith("data:")),
        [`${url}/docs`],
      );
      assert.deepEqual(complaints, []);
      assert.equal(await tab.locator(".menu").isVisible(), hasMenu);
      assert.equal(await tab.locator(".side").isVisible(), !hasMenu);
      await tab.evaluate(`for (const one of document.querySelectorAll("details")) one.open = true`);
      const tooWide = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
      assert.equal(await tab.evaluate(tooWide), 0);
      const cutOff = `[...document.querySelectorAll("pre")].filter((one) =>
        one.scrollWidth > one.clientWidth && getComputedStyle(one).overflowX !== "auto").length`;
      assert.equal(await tab.evaluate(cutOff), 0);
      if (!isAll) await tab.evaluate(`(${thinOut})(${hasMenu ? 0 : 3})`);
      await assertAccessible(tab);
    });
  }
});
