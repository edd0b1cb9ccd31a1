import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { defaultClient } from "../../simulator/clients/clients.ts";
import { startSimulator } from "../../simulator/simulator.ts";
import { type Answered, ada, type MadeClient, type OAuthWorldPlan, oauthWorld } from "../oauth/oauth-world.ts";
import { type FilledIn, formOf, ScriptedBrowser, type Shown } from "../oauth/scripted-browser.ts";
import { startFaultProxy } from "../set-up/fault-proxy.ts";

export const returnUrl = "http://127.0.0.1:9/linked?from=breezeway";

export interface LinkWorldPlan extends Pick<OAuthWorldPlan, "database" | "isClockStill"> {
  readonly kind?: "user" | "enterprise";
  readonly vouchesForUsers?: boolean;
  /** Tokens are issued without the proxy: when it is broken, only the home can't be read. */
  readonly issuesDirectly?: boolean;
}

/**
 * The real service with an ecosystem whose owners consent in a browser. The simulator holds two accounts: Maple Street and Cabin.
 * A proxy between them can be broken.
 */
export async function linkWorld(
  t: TestContext,
  { kind = "user", vouchesForUsers = false, issuesDirectly = false, ...plan }: LinkWorldPlan = {},
) {
  const simulator = await startSimulator({ port: 0 });
  t.after(() => simulator.stop());
  const proxy = await startFaultProxy(simulator.url);
  t.after(() => proxy.stop());
  const { accountId: maple } = simulator.addAccount({
    structures: [{ name: "Maple Street", thermostats: 2, alarms: 3 }],
  } as never);
  const { accountId: cabin } = simulator.addAccount({
    structures: [{ name: "Cabin", thermostats: 1, alarms: 0 }],
  } as never);
  const nest = {
    protocol: "nest",
    apiUrl: proxy.url,
    authUrl: `${simulator.url}/login/oauth2`,
    tokenUrl: `${issuesDirectly ? simulator.url : proxy.url}/oauth2/access_token`,
    clientId: defaultClient.clientId,
    clientSecret: defaultClient.clientSecret,
  };
  const environment = { BREEZEWAY_ECOSYSTEMS: JSON.stringify({ nest }) };
  const service = await oauthWorld(t, { ...plan, environment });
  const client = await service.addClient({ name: "Lantern", kind, returnUrls: [returnUrl], vouchesForUsers });

  /** An access token of the client: of this person, or its own if it acts for the tenant. */
  const tokenOf = async (person = ada, by: MadeClient = client): Promise<string> => {
    if (kind === "user") return (await service.tokens(by, person)).access_token;
    const form = { grant_type: "client_credentials", client_id: by.id, client_secret: by.secret };
    return (await service.post("/oauth2/access_token", form)).body.access_token;
  };
  const post = async (
    token: string,
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answered> => {
    const answer = await fetch(`${service.baseUrl}/v3/link-sessions`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    return { status: answer.status, headers: answer.headers, body: await answer.json() };
  };
  const create = async (token: string, body: object = {}): Promise<{ readonly id: string; readonly url: string }> => {
    const created = await post(token, { ecosystem: "nest", returnUrl, state: "s 1", ...body });
    assert.equal(created.status, 201, JSON.stringify(created.body));
    return created.body;
  };
  const session = async (token: string, id: string) => (await service.get(`/v3/link-sessions/${id}`, token)).body;
  return {
    ...service,
    get baseUrl() {
      return service.baseUrl;
    },
    get service() {
      return service.service;
    },
    get nodes() {
      return service.nodes;
    },
    simulator,
    proxy,
    accounts: { maple, cabin },
    client,
    tokenOf,
    post,
    create,
    session,
    visitor: () => new LinkVisitor(() => service.baseUrl),
  };
}

export type LinkWorld = Awaited<ReturnType<typeof linkWorld>>;

/** The owner of a home, with a browser of their own. */
export class LinkVisitor {
  readonly browser: ScriptedBrowser;

  constructor(baseUrl: () => string) {
    this.browser = new ScriptedBrowser(baseUrl);
  }

  open(url: string): Promise<Shown> {
    return this.browser.get(url);
  }

  /** Signs in on the page, and returns the page that follows. */
  async signIn(page: Shown, person: { readonly name: string; readonly password: string } = ada): Promise<Shown> {
    return this.follow(await this.browser.submit(formOf(page), { username: person.name, password: person.password }));
  }

  /** Goes on to the ecosystem; returns its consent page. */
  async leave(page: Shown, fields: Readonly<Record<string, string>> = {}): Promise<Shown> {
    const sent = await this.browser.submit(formOf(page), { decision: "continue", ...fields });
    assert.equal(sent.status, 303, sent.body);
    return this.browser.get(sent.location);
  }

  /** Decides at the ecosystem; returns the address of our callback with the answer. */
  async consent(
    page: Shown,
    account: string,
    decision: "allow" | "deny" = "allow",
    more: FilledIn = {},
  ): Promise<string> {
    const form = formOf(page);
    const action = new URL(form.action, page.url).href;
    const sent = await this.browser.submit({ ...form, action }, { decision, account, ...more });
    assert.equal(sent.status, 302, sent.body);
    return sent.location;
  }

  /** Comes back from the ecosystem and waits for the outcome. */
  async arrive(callback: string): Promise<Shown> {
    return this.follow(await this.browser.get(callback));
  }

  /** Opens what a redirect or a page that continues by itself leads to. */
  async follow(shown: Shown): Promise<Shown> {
    let next = shown;
    for (;;) {
      const [, refresh] = /http-equiv="refresh" content="0; url=([^"]+)"/.exec(next.body) ?? [];
      const address = next.location || refresh;
      if (!address) return next;
      next = await this.browser.get(address);
    }
  }

  /** All the way from the session's address to its last page. */
  async link(
    url: string,
    account: string,
    person?: { readonly name: string; readonly password: string },
  ): Promise<Shown> {
    const page = await this.open(url);
    const connect = page.body.includes("Sign in") ? await this.signIn(page, person) : page;
    return this.arrive(await this.consent(await this.leave(connect), account));
  }
}

/** The title of a page. */
export function titleOf({ body }: Shown): string {
  return /<h1>([\s\S]*?)<\/h1>/.exec(body)?.[1]?.replace(/<[^>]*>/g, "") ?? body;
}
