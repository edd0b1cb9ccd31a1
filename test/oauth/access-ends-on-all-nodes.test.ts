import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startLogging } from "../../src/runtime/process/log.ts";
import { openParts } from "../../src/service/parts.ts";
import type { Service } from "../../src/service/service.ts";
import { EventStream } from "../events/event-stream.ts";
import { write } from "../events/made-home.ts";
import { PlatformClient } from "../stories/platform-client.ts";
import { eventually } from "../stories/world.ts";
import { nodeBehindProxy } from "./node-behind-proxy.ts";
import { ada, type MadeClient, type OAuthWorld, oauthWorld, type Tokens } from "./oauth-world.ts";

/** The documented limit: this long after an end was answered, no node accepts the token any more. */
const promisedMs = 1_000;

/** The secToken of ada, and the tokens of one of her clients. */
interface Held {
  readonly client: MadeClient;
  readonly tokens: Tokens;
  readonly secToken: string;
}

interface Ending {
  readonly name: string;
  /** Ends the access at the first node, or by a command without a node. */
  readonly end: (world: OAuthWorld, held: Held) => Promise<unknown>;
  readonly endsTokens: boolean;
  readonly endsSecToken: boolean;
}

const endings: readonly Ending[] = [
  {
    name: "revoking the access token",
    end: (world, { client, tokens }) => world.revoke(tokens.access_token, client),
    endsTokens: true,
    endsSecToken: false,
  },
  {
    name: "revoking the refresh token",
    end: (world, { client, tokens }) => world.revoke(tokens.refresh_token, client),
    endsTokens: true,
    endsSecToken: false,
  },
  {
    name: "a refresh token that comes twice",
    end: async (world, { client, tokens }) => {
      const next = await world.refresh(tokens.refresh_token, client);
      // The successor is used, so that the old token retires.
      await world.refresh(next.body.refresh_token, client);
      await world.timePasses(61_000);
      assert.equal((await world.refresh(tokens.refresh_token, client)).status, 400);
    },
    endsTokens: true,
    endsSecToken: false,
  },
  {
    name: "signing out",
    end: (world, { secToken }) => new PlatformClient(() => world.baseUrl).call("userLogout", { secToken }),
    endsTokens: false,
    endsSecToken: true,
  },
  {
    name: "a new password",
    end: (world) => command(world, "user set-password", { user: String(world.userId), password: "another horse" }),
    endsTokens: true,
    endsSecToken: true,
  },
  {
    name: "the client's removal",
    end: (world, { client }) => command(world, "client remove", { client: client.id }),
    endsTokens: true,
    endsSecToken: false,
  },
  {
    name: "the client's suspension",
    end: (world, { client }) => command(world, "client suspend", { client: client.id }),
    endsTokens: true,
    endsSecToken: false,
  },
  {
    name: "the user's suspension",
    end: (world) => command(world, "user suspend", { user: String(world.userId) }),
    endsTokens: true,
    endsSecToken: true,
  },
  {
    name: "the user's removal",
    end: (world) => command(world, "user remove", { user: String(world.userId) }),
    endsTokens: true,
    endsSecToken: true,
  },
];

describe("access of a user and their clients ends at three nodes", () => {
  for (const ending of endings) {
    it(`by ${ending.name}, with the streams that were opened by it`, { timeout: 120_000 }, async (t) => {
      const world = await oauthWorld(t, { database: "postgres" });
      const nodes = [world.service, await world.secondNode(), await world.secondNode()];
      const held = await holdings(world);
      const streams = await Promise.all(
        nodes.map(({ baseUrl }) => EventStream.open(baseUrl, held.tokens.access_token)),
      );
      const streamsEnded = streams.map(({ ended }) => ended.then(() => performance.now()));
      for (const node of nodes) assert.deepEqual(await verdictsOn(node, held), ["yes", "yes", "yes"]);
      await ending.end(world, held);
      const endedMs = performance.now();
      await Promise.all(
        nodes.map(async (node) => {
          const calls = await callUntilEnded(node, held, ending, endedMs);
          assert.ok(calls.every(({ verdicts }) => !verdicts.includes("can't say")));
        }),
      );
      if (ending.endsTokens) {
        const last = Math.max(...(await Promise.all(streamsEnded)));
        t.diagnostic(`the last stream ended ${Math.round(last - endedMs)} ms after the answer`);
      }
      for (const { baseUrl } of nodes) {
        assert.equal(await refreshAt(baseUrl, held), ending.endsTokens ? "no" : "yes", baseUrl);
        if (!ending.endsTokens) break;
      }
      for (const stream of streams) stream.close();
    });
  }
});

for (const mood of ["closed", "half-open"] as const) {
  describe(`a node of three whose connection to the database is ${mood}`, () => {
    it("accepts no token that was ended during the outage, and sends nothing on its streams", {
      timeout: 120_000,
    }, async (t) => {
      const world = await oauthWorld(t, { database: "postgres" });
      const other = await world.secondNode();
      const { node: cutOff, proxy } = await nodeBehindProxy(t, world);
      const lamp = await world.addDevice(world.userId, "Lamp");
      const [held, good] = [await holdings(world), await holdings(world)];
      const streams = [
        await EventStream.open(cutOff.baseUrl, held.tokens.access_token),
        await EventStream.open(cutOff.baseUrl, good.tokens.access_token),
      ] as const;
      await Promise.all(
        streams.map(({ received }) => eventually(t.signal, async () => assert.ok(received.length > 0))),
      );
      assert.deepEqual(await verdictsOn(cutOff, held), ["yes", "yes", "yes"]);

      proxy.mood = mood;
      if (mood === "closed") proxy.drop();
      await world.revoke(held.tokens.refresh_token, held.client);
      const secToken = { secToken: held.secToken };
      await new PlatformClient(() => world.baseUrl).call("userLogout", secToken);
      const endedMs = performance.now();
      await write(other, good.tokens.access_token, lamp, { on: "true" });
      const ends = { endsTokens: true, endsSecToken: true };
      await callUntilEnded(other, held, ends, endedMs);
      const duringOutage: Call[] = [];
      while (performance.now() < endedMs + 2 * promisedMs) duringOutage.push(await callOn(cutOff, held));
      assertNoLateYes(duringOutage, endedMs);

      proxy.mood = "open";
      proxy.drop();
      await callUntilEnded(cutOff, held, ends, endedMs);
      const events = await streams[1].until(1, ({ name }) => name === "attribute");
      assert.deepEqual([events[0]!.data.deviceId, events[0]!.data.value], [lamp, "true"]);
      await streams[0].ended;
      assert.deepEqual(streams[0].events, [], "the stream got an event after its end");
      for (const stream of streams) stream.close();
    });
  });
}

type Verdict = "yes" | "no" | "can't say";

interface Call {
  readonly startedMs: number;
  /** Verdicts for the access token by a call that needs the store and by one that doesn't, and for the secToken. */
  readonly verdicts: readonly Verdict[];
}

async function holdings(world: OAuthWorld): Promise<Held> {
  const client = await world.addClient();
  const platform = new PlatformClient(() => world.baseUrl);
  await platform.login(ada.name, ada.password, world.tenantId);
  return { client, tokens: await world.tokens(client), secToken: platform.secToken };
}

async function callOn(node: Service, held: Held): Promise<Call> {
  const startedMs = performance.now();
  return { startedMs, verdicts: await verdictsOn(node, held) };
}

async function verdictsOn({ baseUrl }: Service, { tokens, secToken }: Held): Promise<readonly Verdict[]> {
  const headers = { authorization: `Bearer ${tokens.access_token}` };
  const statuses: Readonly<Record<number, Verdict>> = { 200: "yes", 404: "yes", 401: "no", 503: "can't say" };
  const byToken = async (path: string) => {
    const answer = await fetch(baseUrl + path, { headers });
    await answer.arrayBuffer();
    return statuses[answer.status] ?? assert.fail(`${path} was answered with ${answer.status}`);
  };
  const faults: Readonly<Record<string, Verdict>> = { 106: "no", 199: "can't say" };
  const bySecToken = async () => {
    const { requestFault } = await new PlatformClient(() => baseUrl).call("getDeviceList", { secToken });
    return requestFault ? (faults[requestFault.errorCode] ?? assert.fail(JSON.stringify(requestFault))) : "yes";
  };
  return Promise.all([byToken("/v3/users"), byToken("/v3/users/nobody"), bySecToken()]);
}

/** Calls until all ended tokens are refused, and a few times more. */
async function callUntilEnded(
  node: Service,
  held: Held,
  { endsTokens, endsSecToken }: Pick<Ending, "endsTokens" | "endsSecToken">,
  endedMs: number,
): Promise<readonly Call[]> {
  const wanted = [endsTokens ? "no" : "yes", endsTokens ? "no" : "yes", endsSecToken ? "no" : "yes"].join();
  const calls: Call[] = [];
  for (let more = 10; more > 0; ) {
    const call = await callOn(node, held);
    // Tokens that have not ended are not checked below.
    const ended = call.verdicts.filter((_, i) => (i < 2 ? endsTokens : endsSecToken));
    calls.push({ ...call, verdicts: ended });
    assertNoLateYes(calls.slice(-1), endedMs);
    if (call.verdicts.join() === wanted) more -= 1;
  }
  return calls;
}

function assertNoLateYes(calls: readonly Call[], endedMs: number): void {
  const late = calls.filter(({ startedMs, verdicts }) => verdicts.includes("yes") && startedMs > endedMs + promisedMs);
  assert.deepEqual(
    late.map(({ startedMs, verdicts }) => `${verdicts}, ${Math.round(startedMs - endedMs)} ms after the end`),
    [],
  );
}

async function refreshAt(baseUrl: string, { client, tokens }: Held): Promise<Verdict> {
  const { refresh_token } = tokens;
  const form = { grant_type: "refresh_token", refresh_token, client_id: client.id, client_secret: client.secret };
  const answer = await fetch(`${baseUrl}/oauth2/access_token`, { method: "POST", body: new URLSearchParams(form) });
  const text = await answer.text();
  if (answer.status === 200) return "yes";
  assert.match(text, /"error":"invalid_(grant|client)"/);
  return "no";
}

/** Runs a command on the store itself, without a node. */
async function command({ config }: OAuthWorld, name: string, input: object): Promise<void> {
  const parts = await openParts(config, startLogging("silent"));
  try {
    await parts.administration.run(name, input);
  } finally {
    await parts.close();
  }
}
