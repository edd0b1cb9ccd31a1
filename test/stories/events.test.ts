import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { describe, it, type TestContext } from "node:test";
import { EventSource } from "eventsource";
import { createEventSource } from "eventsource-client";
import { ScriptedBrowser } from "../oauth/scripted-browser.ts";
import { breezeway, type ChildService, startChild } from "./child-service.ts";
import { killableHouse } from "./killable-house.ts";
import { type Database, databases, person } from "./world.ts";

const LaunchDarklySource = createRequire(import.meta.url)("launchdarkly-eventsource").EventSource;

/** What a foreign client has heard: the ids and values of its `attribute` events, in order. */
interface Heard {
  readonly client: string;
  readonly events: { readonly id: string; readonly value: string }[];
  readonly resyncs: unknown[];
  close(): void;
}

for (const database of databases) {
  describe(`foreign clients of a service on ${database} that is killed`, () => {
    const rounds = database === "sqlite" ? 5 : 3;
    it("hear thousands of changes, each once, and miss none", { timeout: 240_000 }, async (t) => {
      const { service, start, token, lamps } = await house(t, database);
      const url = `${service.baseUrl}/v3/events`;
      const clients = [ofEventSource(url, token), ofEventSourceClient(url, token), ofLaunchDarkly(url, token)];
      t.after(() => clients.forEach((client) => void client.close()));
      await Promise.all(clients.map(({ opened }) => opened));

      const acknowledged: string[] = [];
      let running = service;
      for (let round = 0; round < rounds; round++) {
        const until = acknowledged.length + 700;
        const writers = lamps.map(async (lamp, n) => {
          for (let i = 0; acknowledged.length < until; i++) {
            const value = `${round} ${n} ${i}`;
            if (await isWritten(running.baseUrl, token, lamp, value)) acknowledged.push(value);
          }
        });
        // In the middle of it, with writes under way.
        while (acknowledged.length < until - 300) await new Promise((resolve) => setImmediate(resolve));
        running.process.kill("SIGKILL");
        await running.ended;
        running = await start();
        await Promise.all(writers);
      }

      // What counts is what was committed: also writes of which no answer came back.
      const committed = (await Promise.all(lamps.map((lamp) => history(running.baseUrl, token, lamp)))).flat().sort();
      assert.ok(
        acknowledged.every((value) => committed.includes(value)),
        "an acknowledged write is not in the history",
      );
      for (const { client, events, resyncs } of clients) {
        while (events.length < committed.length) await new Promise((resolve) => setTimeout(resolve, 20));
        assert.deepEqual(events.map(({ value }) => value).sort(), committed, client);
        assert.equal(new Set(events.map(({ id }) => id)).size, events.length, client);
        assert.deepEqual(resyncs, [], client);
        assert.deepEqual(
          events.map(({ id }) => id),
          clients[0]!.events.map(({ id }) => id),
          `${client} heard it in another order`,
        );
      }
    });
  });
}

async function house(t: TestContext, database: Database) {
  const { environment } = await killableHouse(t, database);
  const started = async (port: string): Promise<ChildService> => {
    const service = await startChild("serve", { ...environment, BREEZEWAY_PORT: port });
    t.after(() => service.process.kill("SIGKILL"));
    return service;
  };
  const command = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await breezeway([...args, "--json"], { environment });
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  const client = await command(
    ...["client", "add", "--tenant", "Story", "--name", "Reader", "--redirect-uri", "http://127.0.0.1:9/callback"],
  );
  const users = await command("user", "list", "--tenant", "Story");
  const user = String((users.users ?? users)[0].userId);
  const lamps: number[] = [];
  for (const name of ["one", "two", "three", "four"]) {
    lamps.push((await command("device", "add", "--user", user, "--name", name, "--type", "Lamp")).deviceId);
  }
  const service = await started("0");
  const { port } = new URL(service.baseUrl);
  return { service, start: () => started(port), token: await signIn(service.baseUrl, client), lamps };
}

async function signIn(baseUrl: string, client: { readonly client_id: string; readonly client_secret: string }) {
  const question = new URLSearchParams({ response_type: "code", client_id: client.client_id, state: "s" });
  const returned = await new ScriptedBrowser(() => baseUrl).authorize(
    `${baseUrl}/oauth2/authorize?${question}`,
    person,
  );
  const code = returned.searchParams.get("code") ?? "";
  const body = new URLSearchParams({ ...client, grant_type: "authorization_code", code });
  const answer = await fetch(`${baseUrl}/oauth2/access_token`, { method: "POST", body });
  return ((await answer.json()) as { access_token: string }).access_token;
}

async function isWritten(baseUrl: string, token: string, lamp: number, value: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const init = { method: "PUT", headers, body: JSON.stringify({ a: value }) };
  const answer = await fetch(`${baseUrl}/v3/devices/${lamp}`, init).catch(() => undefined);
  if (!answer) await new Promise((resolve) => setTimeout(resolve, 20));
  return answer?.status === 200;
}

async function history(baseUrl: string, token: string, lamp: number): Promise<readonly string[]> {
  const values: string[] = [];
  for (let cursor = ""; ; ) {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${baseUrl}/v3/devices/${lamp}/history?cursor=${cursor}`, { headers });
    const page = (await answer.json()) as { changes: { value: string }[]; cursor?: string };
    values.push(...page.changes.map(({ value }) => value));
    if (page.cursor === undefined) return values;
    cursor = page.cursor;
  }
}

function hearing(client: string, close: () => void) {
  const opened = Promise.withResolvers<void>();
  const heard: Heard = { client, events: [], resyncs: [], close };
  const hear = (name: string, id: string, data: string) => {
    // The first heartbeat says from where on everything is told.
    if (name === "heartbeat") opened.resolve();
    if (name === "resync") heard.resyncs.push(JSON.parse(data));
    if (name === "attribute") heard.events.push({ id, value: JSON.parse(data).value });
  };
  return { heard: { ...heard, opened: opened.promise }, hear };
}

const names = ["attribute", "heartbeat", "resync"];

function ofEventSource(url: string, token: string) {
  const source = new EventSource(url, {
    fetch: (address, init) =>
      fetch(address, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } }),
  });
  const { heard, hear } = hearing("eventsource", () => source.close());
  for (const name of names) source.addEventListener(name, (event) => hear(name, event.lastEventId, event.data));
  return heard;
}

function ofEventSourceClient(url: string, token: string) {
  const source = createEventSource({
    url,
    headers: { authorization: `Bearer ${token}` },
    onMessage: ({ event = "", id = "", data }) => hear(event, id, data),
  });
  const { heard, hear } = hearing("eventsource-client", () => source.close());
  return heard;
}

function ofLaunchDarkly(url: string, token: string) {
  const source = new LaunchDarklySource(url, {
    headers: { authorization: `Bearer ${token}` },
    initialRetryDelayMillis: 100,
  });
  // Without a listener a broken connection would end the process.
  source.onerror = () => undefined;
  const { heard, hear } = hearing("launchdarkly-eventsource", () => source.close());
  for (const name of names) {
    source.addEventListener(name, (event: { lastEventId: string; data: string }) =>
      hear(name, event.lastEventId, event.data),
    );
  }
  return heard;
}
