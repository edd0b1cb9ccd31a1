import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { rounds } from "../set-up/extent.ts";
import { nginxInFront } from "../set-up/nginx-server.ts";
import { eventually, longSuiteOn } from "../stories/world.ts";
import { foreignReaders } from "./foreign-readers.ts";
import { readThroughKills } from "./killed-service.ts";
import { home, write } from "./made-home.ts";

describe("third-party event readers, of a service that is killed twice", () => {
  for (const database of longSuiteOn("sqlite")) {
    const isBehindNginx = database === "postgres";
    const way = isBehindNginx ? "through nginx" : "directly";
    const events = rounds({ all: 2_000, few: 60 });
    it(`hear ${events} changes ${way}, each once, and miss none, on ${database}`, { timeout: 120_000 }, (t) =>
      readThroughKills(t, { database, events, kills: 2, isBehindNginx }),
    );
  }
});

describe("an nginx with its default settings, in front of the service", () => {
  it("passes on a single event, and heartbeats, though nothing else follows", { timeout: 60_000 }, async (t) => {
    const { world, token, lamp } = await home(t, { clockSpeed: 50 });
    const readers = foreignReaders(`${await nginxInFront(t, world.baseUrl)}/v3/events`, token);
    t.after(() => readers.forEach((reader) => void reader.close()));
    await Promise.all(readers.map(({ opened }) => opened));
    await write(world, token, lamp, { a: "1" });
    await Promise.all(readers.map(({ until }) => until(1)));
    // One when the stream began, then one every 15 seconds.
    await eventually(t.signal, async () => assert.ok(readers.every(({ heartbeats }) => heartbeats >= 3)));
    const empty = readers.filter((reader) => reader.empty > 0).map(({ client }) => client);
    assert.deepEqual(empty, [], "each block that the service sends is an event");
  });
});
