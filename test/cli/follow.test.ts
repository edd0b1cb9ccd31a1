import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import * as sdk from "../../sdk/src/index.ts";
import type { Call } from "../../src/cli/command.ts";
import type { ShownDevice } from "../../src/cli/devices/friendly-names.ts";
import { watchDevice } from "../../src/cli/devices/watch-device.ts";
import { Api } from "../../src/cli/remote/api.ts";
import { follow } from "../../src/cli/remote/follow.ts";
import { ServiceRefused, Unreachable } from "../../src/cli/remote/service-errors.ts";
import { type Printer, printerFor } from "../../src/cli/terminal/output.ts";
import type { Terminal } from "../../src/cli/terminal/terminal.ts";

type Connection = (response: ServerResponse) => void;

/** A stream with these events, which then breaks. */
const events =
  (...ids: readonly string[]): Connection =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const named = (id: string) => (id.includes("beat") ? "heartbeat" : id.includes("resync") ? "resync" : "attribute");
    const data = (id: string) => JSON.stringify({ everySeconds: 2, ...(id.includes("old") && { catchingUp: true }) });
    const frames = ids.map((id) => `id: ${id}\nevent: ${named(id)}\ndata: ${data(id)}\n\n`);
    response.write(frames.join(""), () => response.destroy());
  };

const refusing =
  (status: number, error: string, error_description: string): Connection =>
  (response) =>
    response.writeHead(status).end(JSON.stringify({ error, error_description }));

const refusal = refusing(401, "invalid_token", "The access token is not valid.");

/** A service that serves these connections one after the other. */
async function scripted(t: TestContext, connections: readonly Connection[]) {
  const lastEventIds: (string | undefined)[] = [];
  const printed: string[] = [];
  const server = createServer(({ headers }, response) => {
    const lastEventId = headers["last-event-id"] as string | undefined;
    connections[lastEventIds.push(lastEventId) - 1]?.(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const api = new Api({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    nextStep: "Sign in.",
    current: async () => "t",
    renewed: async () => undefined,
    secToken: async () => "s",
  });
  const print = { words: (text: string) => void printed.push(text) } as Printer;
  /** The ids of the events until the service refuses. */
  const eventIds = async (): Promise<readonly string[]> => {
    const ids: string[] = [];
    await assert.rejects(async () => {
      for await (const { id, type } of follow(api, {}, print)) if (type === "attribute") ids.push(id);
    }, ServiceRefused);
    return ids;
  };
  return { api, print, lastEventIds, printed, eventIds };
}

describe("following the events of a service", () => {
  it("is not live while the stream catches up, and resumes where it was", async (t) => {
    const { eventIds, lastEventIds, printed } = await scripted(t, [
      events("1", "beat-2"),
      events("old-beat-3", "4", "old-beat-5"),
      events("old-beat-6", "7", "beat-8"),
      refusal,
    ]);
    assert.deepEqual(await eventIds(), ["1", "4", "7"]);
    assert.deepEqual(lastEventIds, [undefined, "beat-2", "old-beat-5", "beat-8"]);
    assert.deepEqual(
      printed.map((words) => words.split(/ since|:/)[0]),
      ["Not live", "Live again", "Not live"],
    );
  });

  it("says that a stream has begun, and only when it has caught up that it is live", async (t) => {
    const { api, print } = await scripted(t, [events("1"), events("old-beat-2", "3", "beat-4", "5"), refusal]);
    const types: string[] = [];
    await assert.rejects(async () => {
      for await (const { id, type } of follow(api, {}, print)) types.push(`${type} ${id}`);
    }, ServiceRefused);
    assert.deepEqual(types, [
      ...["connected 1", "live 1", "attribute 1", "lost 1"],
      ...["connected old-beat-2", "attribute 3", "live beat-4", "attribute 5", "lost 5"],
    ]);
  });

  it("is live only after the devices were read again that a resync asks for", async (t) => {
    const { api, print, printed } = await scripted(t, [events("1"), events("resync-2", "3"), refusal]);
    const types: string[] = [];
    await assert.rejects(async () => {
      for await (const { id, type } of follow(api, {}, print)) {
        types.push(`${type} ${id}`);
        if (type === "resync") assert.ok(!printed.some((words) => words.startsWith("Live again")));
      }
    }, ServiceRefused);
    assert.deepEqual(types.slice(4), [
      ...["connected resync-2", "resync resync-2", "live resync-2", "attribute 3", "lost 3"],
    ]);
    assert.equal(printed.filter((words) => words.startsWith("Live again")).length, 1);
  });

  it("resumes after the last event or heartbeat of a lost connection, until the service refuses", async (t) => {
    const { eventIds, lastEventIds, printed } = await scripted(t, [events("1", "2", "beat-3"), events("4"), refusal]);
    assert.deepEqual(await eventIds(), ["1", "2", "4"]);
    assert.deepEqual(lastEventIds, [undefined, "beat-3", "4"]);
    assert.equal(printed.filter((words) => words.startsWith("Live again")).length, 1);
  });

  it("tries again after a 503, and ends at any other refusal", async (t) => {
    const down = refusing(503, "store_unavailable", "The store can't be reached.");
    const { eventIds, printed } = await scripted(t, [
      events("1"),
      down,
      events("2"),
      refusing(429, "too_many_requests", "Wait."),
    ]);
    assert.deepEqual(await eventIds(), ["1", "2"]);
    assert.equal(printed.filter((words) => words.startsWith("Live again")).length, 1);
  });

  it("reports at once why the first connection failed", async (t) => {
    const refused = await scripted(t, [refusal]);
    assert.deepEqual([await refused.eventIds(), refused.printed], [[], []]);
    const broken = await scripted(t, [(response) => response.destroy()]);
    await assert.rejects(follow(broken.api, {}, broken.print).next(), Unreachable);
    assert.deepEqual([broken.lastEventIds.length, broken.printed], [1, []]);
  });

  it("ends a connection when the caller's signal aborts", { timeout: 5_000 }, async (t) => {
    const { api } = await scripted(t, [
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(`id: 1\nevent: heartbeat\ndata: {"everySeconds":60}\n\n`);
      },
    ]);
    const caller = new AbortController();
    const connection = api.connection({ signal: caller.signal });
    assert.equal((await connection.next()).value?.id, "1");
    caller.abort();
    assert.equal((await connection.next()).done, true);
  });
});

describe("a table of a device that is watched", () => {
  it("is not live before its stream has caught up", async () => {
    const device = {
      ...{ deviceId: 1, deviceName: "lamp", deviceTypeName: "lamp", presenceInfo: 1, stale: false },
      attributes: { power: { value: "off", updateTime: 1 } },
    };
    const beat = (id: string, more = {}) => ({ id, type: "heartbeat", ...more });
    const change = { id: "4", type: "attribute", deviceId: 1, name: "power", value: "on", updateTime: 2 };
    const drawn: string[] = [];
    let drawnBehind: string | undefined;
    let connections = 0;
    const api = {
      baseUrl: "http://service.example",
      renewAccess: async () => undefined,
      getDevice: async () => device,
      async *connection() {
        connections += 1;
        if (connections === 1) yield beat("1");
        if (connections === 2) {
          yield beat("2", { catchingUp: true });
          yield change;
          drawnBehind = drawn.at(-1);
          yield beat("5");
        }
        if (connections === 3) throw new ServiceRefused(401, "invalid_token", "The access token is not valid.");
      },
    } as unknown as Api;
    const out = { isTTY: true, rows: 50, columns: 100, write: (text: string) => void drawn.push(text) };
    const terminal = { environment: { NO_COLOR: "1" }, out, err: out } as unknown as Terminal;
    const call = { terminal, print: printerFor(terminal) } as unknown as Call;
    const read = async () => ({ device: device as unknown as ShownDevice, names: ["power"] });
    await assert.rejects(watchDevice(call, api, read, []), ServiceRefused);
    assert.match(drawnBehind!, /power +on .*Not live since/s);
    assert.ok(drawn.slice(drawn.indexOf(drawnBehind!) + 1).some((text) => text.endsWith("Ctrl-C ends.\n")));
  });
});

describe("lines about a device that is watched", () => {
  for (const isJson of [false, true]) {
    it(`show the device again after a resync, ${isJson ? "as JSON" : "as text"}`, async () => {
      const device = (value: string, updateTime: number) => ({
        ...{ deviceId: 1, deviceName: "hall", deviceTypeName: "alarm", presenceInfo: 1, stale: false },
        attributes: { smoke_alarm_state: { value, updateTime } },
      });
      let now = device("ok", 1);
      let connections = 0;
      const api = {
        baseUrl: "http://service.example",
        renewAccess: async () => undefined,
        getDevice: async () => now,
        async *connection() {
          connections += 1;
          if (connections === 1) yield { id: "1", type: "heartbeat" };
          if (connections === 2) {
            now = device("emergency", 2);
            yield { id: "2", type: "resync", reason: "past_retention" };
          }
          if (connections === 3) throw new ServiceRefused(401, "invalid_token", "The access token is not valid.");
        },
      } as unknown as Api;
      const printed: string[] = [];
      // Too few rows for a table.
      const out = { isTTY: true, rows: 4, columns: 100, write: (text: string) => void printed.push(text) };
      const terminal = { environment: { NO_COLOR: "1" }, out, err: out } as unknown as Terminal;
      const call = { terminal, print: printerFor(terminal, { json: isJson }) } as unknown as Call;
      const read = async () => ({ device: now as unknown as ShownDevice, names: ["smoke_alarm_state"] });
      await assert.rejects(watchDevice(call, api, read, []), ServiceRefused);
      const text = printed.join("");
      const alarm = text.indexOf("emergency");
      assert.ok(text.indexOf("ok") < alarm && alarm > 0, text);
      const live = text.search(isJson ? /"state":"live"/ : /Live again/);
      assert.ok(alarm < live, text);
      assert.doesNotMatch(text.slice(alarm - 200, live), /unknown, as of/);
    });
  }

  it("go on after answers that are missing, and show the device when it can be read again", async () => {
    const device = (value: string, updateTime: number) => ({
      ...{ deviceId: 1, deviceName: "hall", deviceTypeName: "alarm", presenceInfo: 1, stale: false },
      attributes: { smoke_alarm_state: { value, updateTime } },
    });
    const slow = new Unreachable("http://service.example", new sdk.Unreachable("No answer in time."));
    const busy = new ServiceRefused(503, "store_unavailable", "The store can't be reached.");
    let connections = 0;
    const api = {
      baseUrl: "http://service.example",
      renewAccess: async () => undefined,
      getDevice: () => Promise.reject(busy),
      async *connection() {
        connections += 1;
        if (connections === 2) throw new ServiceRefused(401, "invalid_token", "The access token is not valid.");
        yield { id: "1", type: "heartbeat" };
        yield { id: "2", type: "link", deviceId: 1 };
        yield { id: "3", type: "resync", reason: "past_retention" };
        const alarm = { name: "smoke_alarm_state", value: "emergency", updateTime: 3 };
        yield { id: "4", type: "attribute", deviceId: 1, ...alarm };
      },
    } as unknown as Api;
    const readings = [device("ok", 1), device("ok", 1), slow, device("warning", 2)];
    const read = async () => {
      const next = readings.shift();
      if (next === undefined || next instanceof Error) throw next ?? new Error("read too often");
      return { device: next as unknown as ShownDevice, names: ["smoke_alarm_state"] };
    };
    const lines: string[] = [];
    const out = { write: (text: string) => void lines.push(text) };
    const err = { write: () => undefined };
    const terminal = { environment: {}, out, err } as unknown as Terminal;
    const call = { terminal, print: printerFor(terminal, { json: true }) } as unknown as Call;
    await assert.rejects(watchDevice(call, api, read, []), ServiceRefused);
    const shown = lines.map((line) => JSON.parse(line));
    assert.deepEqual(
      shown.map(({ type, state, value, attributes }) => [type, state ?? value ?? attributes.smoke_alarm_state.value]),
      [
        ["device", "ok"],
        ["connection", "lost"],
        ["connection", "live"],
        ["device", "warning"],
        ["attribute", "emergency"],
        ["connection", "lost"],
      ],
    );
  });
});

describe("a device that is watched while the service does not answer", () => {
  it("is not live as soon as a poll of its freshness fails, also while the device is read again", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
    const device = {
      ...{ deviceId: 1, deviceName: "hall", deviceTypeName: "alarm", presenceInfo: 1, stale: false },
      attributes: { smoke_alarm_state: { value: "ok", updateTime: 1 } },
    };
    const reading = { device: device as unknown as ShownDevice, names: ["smoke_alarm_state"] };
    const slow = Promise.withResolvers<typeof reading>();
    const readsAgain = Promise.withResolvers<void>();
    const slowly = () => {
      readsAgain.resolve();
      return slow.promise;
    };
    const reads = [async () => reading, async () => reading, slowly];
    const states: string[] = [];
    const api = {
      baseUrl: "http://service.example",
      renewAccess: async () => undefined,
      getDevice: () => Promise.reject(new Unreachable("http://service.example", new sdk.Unreachable("No answer."))),
      async *connection() {
        yield { id: "1", type: "heartbeat" };
        yield { id: "2", type: "resync", reason: "past_retention" };
        throw new ServiceRefused(401, "invalid_token", "The access token is not valid.");
      },
    } as unknown as Api;
    const write = (line: string) => {
      const { type, state } = JSON.parse(line);
      if (type === "connection") states.push(state);
    };
    const terminal = { environment: {}, out: { write }, err: { write: () => undefined } } as unknown as Terminal;
    const call = { terminal, print: printerFor(terminal, { json: true }) } as unknown as Call;
    const watching = assert.rejects(
      watchDevice(call, api, () => reads.shift()!(), []),
      ServiceRefused,
    );
    await readsAgain.promise;
    t.mock.timers.tick(2_000);
    await new Promise(setImmediate);
    assert.deepEqual(states, ["lost"]);
    slow.resolve(reading);
    await watching;
    assert.deepEqual(states, ["lost", "live"]);
  });
});
