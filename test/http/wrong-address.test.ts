import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { prefersPage } from "../../src/http/answer/wrong-address.ts";
import { assertAccessible } from "../browser/axe.ts";
import { browserOfFile, skip } from "../browser/world.ts";
import { madeServer } from "./made-server.ts";

const browser = browserOfFile();
const firefox = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

describe("an unknown address", () => {
  it("answers a browser with a page and every other client with the error object", async (t) => {
    const { url } = (await madeServer(t)).server;
    const get = (path: string, accept: string, method = "GET") =>
      fetch(url + path, { method, headers: { accept }, redirect: "manual" });
    for (const [path, status] of [
      ["/nothing", 404],
      ["/consoles", 404],
      ["/v3/nothing?access_token=bwa_secret", 404],
      ["/oauth2/access_token", 405],
      ["/%zz", 400],
    ] as const) {
      const page = await get(path, firefox);
      const html = await page.text();
      assert.deepEqual([page.status, page.headers.get("content-type")], [status, "text/html; charset=utf-8"], path);
      assert.match(html, /<h1>There is no page here<\/h1>/);
      assert.ok(html.includes(`Request <span class="id">${page.headers.get("x-request-id")}</span>`), path);
      assert.ok(!html.includes("bwa_secret"));
      for (const accept of ["*/*", "application/json", "application/json, text/html;q=0.5"]) {
        const answer = await get(path, accept);
        const { request_id } = (await answer.json()) as { request_id: string };
        assert.deepEqual(
          [answer.status, request_id],
          [status, answer.headers.get("x-request-id")],
          `${path} ${accept}`,
        );
      }
      assert.equal((await get(path, firefox)).headers.get("allow"), (await get(path, "*/*")).headers.get("allow"));
    }
    assert.equal(
      (await get("/nothing", firefox, "POST")).headers.get("content-type"),
      "application/json; charset=utf-8",
    );
    assert.doesNotMatch((await get("/adaptor/nothing", firefox)).headers.get("content-type")!, /html/);
    assert.doesNotMatch((await get("/zdk/nothing", firefox)).headers.get("content-type")!, /html/);
  });

  it("leads to the console from the bare host, in a browser, and to a page from its name with a slash", async (t) => {
    const { server, reported } = await madeServer(t);
    const { url } = server;
    const leadsTo = async (path: string, accept: string) => {
      const answer = await fetch(url + path, { headers: { accept }, redirect: "manual" });
      return [answer.status, answer.headers.get("location")];
    };
    assert.deepEqual(await leadsTo("/", firefox), [302, "/console"]);
    for (const path of ["/docs", "/console", "/console/homes", "/account", "/account/5"]) {
      assert.deepEqual(await leadsTo(`${path}/`, "*/*"), [302, path]);
    }
    assert.deepEqual(await leadsTo("/console/?claim=a%2Fb/", firefox), [302, "/console?claim=a%2Fb/"]);
    assert.ok(!reported.some(({ sentence }) => sentence === "request refused"));
    for (const path of ["//console/", "/console//", "/v3/users/"]) {
      assert.equal((await leadsTo(path, "*/*"))[0], 404, path);
    }
    assert.deepEqual(await leadsTo("/docs", "*/*"), [200, null]);
  });

  it("says nothing about a slash at the bare host, where the slash can't be left out", async (t) => {
    const { fetch } = await madeServer(t);
    const answer = await fetch("/");
    const { error_description: sentence } = (await answer.json()) as Record<string, string>;
    assert.deepEqual([answer.status, sentence], [404, "There is nothing at this path."]);
  });

  it("has a link to the console, below the console", async (t) => {
    const { url } = (await madeServer(t)).server;
    const pageAt = async (path: string) => (await fetch(url + path, { headers: { accept: firefox } })).text();
    const link = '<a href="/console">Back to the console</a>';
    assert.ok((await pageAt("/console/nothing")).includes(link));
    assert.ok(!(await pageAt("/nothing")).includes(link));
  });

  it("looks good on a phone and on a desktop, and links to the reference", { skip }, async (t) => {
    const { url } = (await madeServer(t)).server;
    for (const [width, height] of [
      [390, 844],
      [1440, 900],
    ] as const) {
      const tab = await browser().newPage({ viewport: { width, height } });
      await tab.goto(`${url}/cosnole`);
      await assertAccessible(tab);
      await tab.getByRole("link", { name: "everything that can be called" }).click();
      await tab.waitForURL(`${url}/docs`);
      await tab.close();
    }
  });
});

describe("a client that accepts HTML", () => {
  it("is a browser only if it doesn't prefer JSON, and isn't a Java program with the default Accept header", () => {
    const java = "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2";
    for (const accept of [firefox, "text/html", "application/json;q=0.5, text/html"]) assert.ok(prefersPage(accept));
    for (const accept of [java, "*/*", "", undefined, "application/json, text/html;q=0.9", "text/html;q=0"]) {
      assert.ok(!prefersPage(accept), String(accept));
    }
  });
});
