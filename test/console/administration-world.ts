import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { home, send } from "../events/made-home.ts";
import { receiver } from "../events/receiver.ts";
import { OperatorBrowser } from "../operators/operator-browser.ts";

export const password = "correct horse";
/** Names that would break out of a page that does not escape them. */
export const hostileName = `<b>Voice</b> "&' evil`;

/** Settings of an outlet to Alexa. */
export const alexa = {
  "vendor-id": "M2ABC",
  "skill-id": "amzn1.ask.skill.11111111-2222-3333-4444-555555555555",
  "messaging-client-id": "amzn1.application-oa2-client.1234",
  "messaging-client-secret": "amzn1.oa2-cs.v1.1234",
};

/** The service with two tenants, clients, a user who gave access, a webhook, and operators in browsers without script. */
export async function administrationWorld(t: TestContext) {
  const made = await home(t, { database: "sqlite", environment: { BREEZEWAY_ALLOW_PRIVATE_WEBHOOKS: "true" } });
  const { world, token, lamp } = made;
  const hook = await receiver(t);
  const { administration } = world.service.parts;
  // biome-ignore lint/suspicious/noExplicitAny: each command has its own answer
  const run = (command: string, input: object = {}): Promise<any> =>
    administration.run(command, input, { service: { baseUrl: world.baseUrl } });
  const join = async (path: string, form: Readonly<Record<string, string>>) => {
    const browser = new OperatorBrowser(world.baseUrl);
    const answer = await browser.send(path, { password, ...form });
    assert.equal(answer.status, 303, await answer.text());
    return browser;
  };
  return {
    world,
    token,
    lamp,
    hook,
    run,
    clientId: world.client.id,
    owner: async () => join((await run("operator claim")).path, { name: "ada" }),
    invited: async (name: string, invitation: object) =>
      join((await run("operator invite", { name, ...invitation })).path, {}),
    /** Adds a webhook of the client. */
    async addWebhook(): Promise<string> {
      const { status, body } = await send(`${world.baseUrl}/v3/webhooks`, token, "POST", { url: hook.url });
      assert.equal(status, 201, JSON.stringify(body));
      return body.webhookId;
    },
    /** The status of a call with the client's access token. */
    statusOfToken: async () => (await send(`${world.baseUrl}/v3/devices/${lamp}`, token, "GET")).status,
  };
}

export type AdministrationWorld = Awaited<ReturnType<typeof administrationWorld>>;

/** The text of a page, which must be there. */
export async function pageText(browser: OperatorBrowser, path: string): Promise<string> {
  const answer = await browser.get(`/console${path}`);
  const text = await answer.text();
  assert.equal(answer.status, 200, `${path}: ${text}`);
  return text;
}

/** The addresses of all pages below `/console`, with the things of this world. */
export const everyPage = (
  { clientId, world }: AdministrationWorld,
  webhook: string,
  outlet: string,
): readonly string[] => [
  "",
  "/search?q=voice",
  "/webhooks",
  `/webhooks/${webhook}`,
  "/assistants",
  `/assistants/${outlet}`,
  "/users",
  `/users/${world.userId}`,
  "/clients",
  `/clients/${clientId}`,
  "/tenants",
  `/tenants/${world.tenantId}`,
  `/tenants/${world.tenantId}?preview=login`,
  `/tenants/${world.tenantId}?preview=terms`,
  `/tenants/${world.tenantId}?preview=link`,
  "/audit",
  "/system",
  "/operators",
  "/operators/ada",
  "/sessions",
];
