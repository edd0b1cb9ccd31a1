import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, it, type TestContext } from "node:test";
import { ada } from "../oauth-world.ts";
import { ScriptedBrowser } from "../scripted-browser.ts";
import { startApplication } from "./application.ts";
import { type AnyJson, foreignWorld } from "./whole-flow.ts";

/** Not a literal: its types would add those of browsers to all tests. */
const authJs: string = "@auth/core";
const document = new URL("../../../docs/oauth-clients.md", import.meta.url);

describe("Auth.js with the recipe of docs/oauth-clients.md", () => {
  it("signs a user in", async (t) => {
    const { visitor, signIn, world, errors } = await authApplication(t);
    const back = await world.visit(await signIn());
    assert.equal(back.searchParams.get("iss"), world.baseUrl);
    assert.equal((await visitor.get(String(back))).status, 302);
    assert.deepEqual(errors, []);
    const { user } = JSON.parse((await visitor.get("/auth/session")).body);
    assert.equal(user.name, ada.name);
  });

  it("refuses the answer if the recipe's issuer is left out, unless the client is registered without iss", async (t) => {
    const { visitor, signIn, world, errors, client } = await authApplication(t, { issuer: undefined });
    await visitor.get(String(await world.visit(await signIn())));
    assert.match(errors.join(), /unexpected "iss"/);
    assert.equal((await visitor.get("/auth/session")).body, "null");
    errors.length = 0;
    await world.service.parts.oauth.editClient(client.id, { sendsIssuer: false });
    await visitor.get(String(await world.visit(await signIn())));
    assert.deepEqual(errors, []);
    assert.equal(JSON.parse((await visitor.get("/auth/session")).body).user.name, ada.name);
  });

  it("reports a declined authorization", async (t) => {
    const { visitor, signIn, world, errors } = await authApplication(t);
    await visitor.get(String(await world.visit(await signIn(), "decline")));
    assert.match(errors.join(), /access_denied|OAuthCallbackError/);
    assert.equal((await visitor.get("/auth/session")).body, "null");
  });
});

/** A web application with Auth.js and the recipe's provider. */
async function authApplication(test: TestContext, change: object = {}) {
  const world = await foreignWorld(test);
  const application = await startApplication(test);
  const client = await world.addClient({ redirectUris: [`${application.url}/auth/callback/breezeway`] });
  const provider = await readRecipe(world.folder, world.baseUrl, client);
  const errors: string[] = [];
  const { Auth }: AnyJson = await import(authJs);
  const config = {
    basePath: "/auth",
    secret: "a secret of the application",
    trustHost: true,
    providers: [{ ...provider, ...change }],
    logger: { error: (error: Error) => void errors.push(`${error} ${(error.cause as AnyJson)?.err ?? ""}`), warn() {} },
  };
  application.handle = async (request, response) => send(await Auth(await toRequest(request), config), response);
  const visitor = new ScriptedBrowser(() => application.url);
  const signIn = async () => {
    const { csrfToken } = JSON.parse((await visitor.get("/auth/csrf")).body);
    return (await visitor.submit({ action: "/auth/signin/breezeway", fields: { csrfToken } }, {})).location;
  };
  return { world, client, visitor, signIn, errors };
}

/** The provider of the document's block, as a module. */
async function readRecipe(folder: string, baseUrl: string, client: { readonly id: string; readonly secret: string }) {
  const [, block = ""] = /```js\n([\s\S]*?)```/.exec(readFileSync(document, "utf8")) ?? [];
  const file = join(folder, "provider.mjs");
  writeFileSync(file, block);
  const settings = { URL: baseUrl, CLIENT_ID: client.id, CLIENT_SECRET: client.secret };
  const names = Object.keys(settings).map((name) => `BREEZEWAY_${name}`);
  for (const [name, value] of Object.entries(settings)) process.env[`BREEZEWAY_${name}`] = value;
  try {
    return ((await import(file)) as AnyJson).breezeway;
  } finally {
    for (const name of names) delete process.env[name];
  }
}

async function toRequest(request: IncomingMessage): Promise<Request> {
  const { method = "GET", url = "", headers } = request;
  return new Request(`http://${headers.host}${url}`, {
    method,
    headers: Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string]),
    ...(method === "POST" && { body: await text(request) }),
  });
}

async function send(answer: Response, response: ServerResponse): Promise<void> {
  for (const [name, value] of answer.headers) response.appendHeader(name, value);
  response.writeHead(answer.status).end(await answer.text());
}
