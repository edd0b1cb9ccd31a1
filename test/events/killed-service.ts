import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { runCommand } from "../cli/run-command.ts";
import { nginxInFront } from "../set-up/nginx-server.ts";
import { type ChildService, startChild } from "../stories/child-service.ts";
import { killableDeployment } from "../stories/killable-deployment.ts";
import type { StartOptions } from "../stories/killable-nodes.ts";
import type { Deployment } from "../stories/world.ts";
import { foreignReaders } from "./foreign-readers.ts";

export interface ReadThroughKills {
  readonly database: Deployment;
  readonly events: number;
  readonly kills: number;
  /** Behind an nginx with default buffer settings. */
  readonly isBehindNginx: boolean;
}

/** The attributes of one write: a reader that disconnects in the middle of it resumes there. */
const attributes = ["a", "b", "c", "d"];

/** Third-party readers get each change once, in order, and miss none, while the service is killed in between. */
export async function readThroughKills(
  t: TestContext,
  { database, events, kills, isBehindNginx }: ReadThroughKills,
): Promise<void> {
  const house = await killableDeployment(t, database);
  const { nodes } = house;
  const lamps = await addLamps(house.environment);
  await nodes.start();
  const token = (await house.authorizeClient()).accessToken;
  const address = isBehindNginx ? await nginxInFront(t, nodes.baseUrl) : nodes.baseUrl;
  const readers = foreignReaders(`${address}/v3/events`, token);
  t.after(() => readers.forEach((reader) => void reader.close()));
  await Promise.all(readers.map(({ opened }) => opened));

  const acknowledged: string[] = [];
  for (let run = 0; run <= kills; run++) {
    const until = Math.ceil((events * (run + 1)) / (kills + 1) / attributes.length);
    const middle = (acknowledged.length + until) / 2;
    const halfWay = Promise.withResolvers<void>();
    // Two for each lamp, side by side.
    const writers = [...lamps, ...lamps].map(async (lamp, n) => {
      for (let i = 0; acknowledged.length < until; i++) {
        const value = `${run} ${n} ${i}`;
        if (await isWritten(nodes.baseUrl, token, lamp, value)) acknowledged.push(value);
        if (acknowledged.length >= middle) halfWay.resolve();
      }
    });
    await halfWay.promise;
    if (run < kills) {
      // With writes under way.
      await nodes.kill();
      await nodes.start();
    }
    await Promise.all(writers);
  }

  // Committed writes count, also those whose answer was lost.
  const committed = (await Promise.all(lamps.map((lamp) => history(nodes.baseUrl, token, lamp)))).flat().sort();
  assert.ok(committed.length >= events);
  const kept = new Set(committed);
  assert.ok(
    acknowledged.every((value) => kept.has(value)),
    "an acknowledged write is not in the history",
  );
  for (const reader of readers) {
    const { client, events, resyncs, until } = reader;
    await until(committed.length);
    assert.equal(reader.empty, 0, `${client} heard an empty message`);
    assert.deepEqual(events.map(({ value }) => value).sort(), committed, client);
    assert.equal(new Set(events.map(({ id }) => id)).size, events.length, client);
    assert.deepEqual(resyncs, [], client);
    assert.deepEqual(
      events.map(({ id }) => id),
      readers[0]!.events.map(({ id }) => id),
      `${client} heard it in another order`,
    );
  }
  t.diagnostic(`${committed.length} events, ${kills} kills, ${readers.length} readers`);
}

/** Two lamps, a token for them, and a service that starts again at the same port. */
export async function lampHouse(t: TestContext, database: Deployment, more: Readonly<Record<string, string>> = {}) {
  const house = await killableDeployment(t, database);
  const environment = { ...house.environment, ...more };
  const started = async (port: string, how: StartOptions = {}): Promise<ChildService> => {
    const service = await startChild("serve", { ...environment, ...how.environment, BREEZEWAY_PORT: port }, how);
    t.after(() => service.process.kill("SIGKILL"));
    house.baseUrl = service.baseUrl;
    return service;
  };
  const lamps = await addLamps(environment);
  const service = await started("0");
  const { port } = new URL(service.baseUrl);
  const token = (await house.authorizeClient()).accessToken;
  return { service, start: (how?: StartOptions) => started(port, how), token, lamps };
}

async function addLamps(environment: Record<string, string>): Promise<readonly number[]> {
  const command = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await runCommand([...args, "--json"], { environment });
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  const users = await command("user", "list", "--tenant", "Story");
  const user = String((users.users ?? users)[0].userId);
  const lamps: number[] = [];
  for (const name of ["one", "two"]) {
    lamps.push((await command("device", "add", "--user", user, "--name", name, "--type", "Lamp")).deviceId);
  }
  return lamps;
}

async function isWritten(baseUrl: string, token: string, lamp: number, value: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const body = JSON.stringify(Object.fromEntries(attributes.map((name) => [name, value])));
  const answer = await fetch(`${baseUrl}/v3/devices/${lamp}`, { method: "PUT", headers, body }).catch(() => undefined);
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
