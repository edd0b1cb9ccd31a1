import assert from "node:assert/strict";
import { after, before, type TestContext } from "node:test";
import { ScriptedBrowser, type Shown } from "../../oauth/scripted-browser.ts";
import { PlatformClient } from "../../stories/platform-client.ts";
import { clientOfTenant, clientOfUser, type V3Client } from "../../stories/v3-client.ts";
import { eventually, person, type World, type WorldPlan, world } from "../../stories/world.ts";

export const tenant = "Story";
export const callback = "http://127.0.0.1:9/callback";
export { person };

/** The real service and the simulated ecosystem, with a user's and a company's client. */
export interface House extends World {
  readonly user: V3Client;
  readonly company: V3Client;
}

/** One house for all statements of a file. It starts and is prepared before the first, and ends after the last. */
export function houseOfFile(
  plan: WorldPlan = {},
  prepare: (house: House) => Promise<void> = async () => undefined,
): () => House {
  const cleanups: (() => unknown)[] = [];
  let house: House;
  before(async () => {
    // A story on one node needs no more of its test.
    const test = { after: (cleanup: () => unknown) => cleanups.push(cleanup) } as unknown as TestContext;
    const story = await world(test, plan);
    const [user, company] = [
      await clientOfUser(() => story.service, tenant, person),
      await clientOfTenant(() => story.service, tenant),
    ];
    house = Object.assign(story, { user, company });
    await prepare(house);
  });
  after(async () => {
    for (const cleanup of cleanups.reverse()) await cleanup();
  });
  return () => house;
}

/** Adds a user of the tenant, and returns a client of the platform calls with the user's security token. */
export async function addUser({ service }: House, who: typeof person): Promise<PlatformClient> {
  await service.parts.identity.addUser({ tenant, ...who, isAdmin: false });
  const client = new PlatformClient(() => service.baseUrl);
  await client.login(who.name, who.password, (await service.parts.identity.findTenant(tenant)).tenantId);
  return client;
}

/** Waits until the stream of the user's account is live. */
export async function untilLive({ client }: House): Promise<void> {
  await eventually(AbortSignal.timeout(60_000), async () => assert.equal((await client.linkStatus()).state, "live"));
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the statements are about
  readonly body: any;
}

/** Sends a request over plain HTTP. The body of the answer is parsed if it is JSON. */
export async function send(url: string | URL, init: RequestInit = {}): Promise<Answer> {
  const answer = await fetch(url, { redirect: "manual", ...init });
  const text = await answer.text();
  const isJson = (answer.headers.get("content-type") ?? "").startsWith("application/json");
  return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text };
}

/** Posts a form. */
export function post(url: string, fields: Readonly<Record<string, string>>): Promise<Answer> {
  return send(url, { method: "POST", body: new URLSearchParams(fields) });
}

export function withoutMember<Fields extends object>(fields: Fields, name: keyof Fields): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter(([member]) => member !== name));
}

/** A browser that follows redirects within the service, as people's browsers do. */
export function browserAt(baseUrl: string) {
  const browser = new ScriptedBrowser(() => baseUrl);
  const follow = async (shown: Shown): Promise<Shown> => {
    const target = shown.location === "" ? undefined : new URL(shown.location, baseUrl);
    return target?.origin === new URL(baseUrl).origin ? follow(await browser.get(target.href)) : shown;
  };
  return {
    open: async (address: string | URL) => follow(await browser.get(String(address))),
    submit: async (page: Shown, input: Readonly<Record<string, string>>) => {
      if (!page.form) throw new Error(`The page has no form: ${page.body}`);
      return follow(await browser.submit(page.form, input));
    },
  };
}
