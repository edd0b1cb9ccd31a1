import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { Connector, StreamEnd, StreamListener } from "../../src/ecosystems/connector.ts";
import { DeploymentFeed } from "../../src/ecosystems/kit/deployment-feed.ts";
import { WholeHome } from "../../src/ecosystems/kit/whole-home.ts";
import type { Home } from "../../src/home/home.ts";
import { EcosystemRefused } from "../../src/model/errors.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { type ConnectorHarness, describeConnector } from "../contracts/connector.contract.ts";
import { movedRuntime, settled } from "../federation/moved-runtime.ts";
import { listen } from "./listening.ts";
import { list, put, readAccount, smallConnector } from "./small-api.ts";
import { type SmallAccount, SmallEcosystem, type SmallMessage, token } from "./small-ecosystem.ts";

const watchdogMs = 70_000;

describeConnector("fed", startHarness);

describe("a connector with a feed of the whole deployment", () => {
  it("acknowledges a change when it is durable, and not before", async (t) => {
    const { connector, ecosystem } = await startFed(t, movedRuntime());
    const durable = Promise.withResolvers<boolean>();
    const stream = listen(connector, token, () => durable.promise);
    await stream.until(1);
    ecosystem.leave();
    await stream.until(2);
    await settled();
    assert.deepEqual(ecosystem.acknowledged, []);
    durable.resolve(true);
    await settled();
    assert.deepEqual(ecosystem.acknowledged, [1]);
    stream.stop();
    await stream.ended;
  });

  it("loses no change that comes while the account is listed", async (t) => {
    const { connector, ecosystem } = await startFed(t, movedRuntime());
    // The second read lists the account; the change happens when its answer is on the way.
    ecosystem.answered = (reads) => {
      if (reads === 2) ecosystem.leave();
    };
    const stream = listen(connector, token);
    await stream.until(2);
    const homes = stream.heard.map((home) => (home as Home).structures.byId.get("s1"));
    assert.deepEqual(
      homes.map((sighting) => sighting?.isRead && sighting.object.presence?.state.word),
      ["home", "away"],
    );
    stream.stop();
    await stream.ended;
  });
});

/** A connector that lists the account once and then hears of single objects from the feed, built from the kit. */
function fedConnector(url: string, feed: DeploymentFeed<SmallMessage>, runtime: Runtime): Connector {
  return {
    ...smallConnector(url),
    async follow(given, listener, signal) {
      const read = () => readAccount(url, given, signal);
      try {
        const { userId } = await read();
        return await hear({ read, feed, userId, runtime }, listener, signal);
      } catch (error) {
        if (signal.aborted) return stopped;
        const reason = error instanceof EcosystemRefused ? "unauthorized" : "unreachable";
        return { reason, detail: (error as Error).message };
      }
    },
  };
}

const stopped: StreamEnd = { reason: "stopped", detail: "stopped by us" };

interface HearParts {
  readonly read: () => Promise<SmallAccount>;
  readonly feed: DeploymentFeed<SmallMessage>;
  readonly userId: string;
  readonly runtime: Runtime;
}

async function hear(
  { read, feed, userId, runtime }: HearParts,
  listener: StreamListener,
  signal: AbortSignal,
): Promise<StreamEnd> {
  const whole = new WholeHome();
  const listed = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<StreamEnd>();
  const stop = () => ended.resolve(stopped);
  let cancel = () => {};
  const watch = () => {
    cancel();
    cancel = runtime.after(watchdogMs, () => ended.resolve({ reason: "silent", detail: "no message" }));
  };
  // Registered before the listing: a change between the two would be lost. It is applied after the listing.
  const unregister = feed.register(userId, async (message) => {
    await listed.promise;
    watch();
    if ("ends" in message) {
      const reason = message.ends === "revoked" ? "unauthorized" : "closed";
      return ended.resolve({ reason, detail: "the ecosystem ended the messages" });
    }
    put(whole, message.kind, message.id, message.object);
    whole.report(listener);
    if (!(await listener.stored())) throw new Error("the change was not stored");
  });
  signal.addEventListener("abort", stop);
  try {
    list(whole, await read());
    if (signal.aborted) return stopped;
    whole.report(listener);
    watch();
    listed.resolve();
    return await ended.promise;
  } finally {
    unregister();
    cancel();
    signal.removeEventListener("abort", stop);
  }
}

async function startFed(t: TestContext, runtime: Runtime) {
  const ecosystem = new SmallEcosystem();
  await ecosystem.start(t);
  const failed = (error: unknown) => assert.fail(error as Error);
  const alone = { onLimitReached: () => undefined, storeForOtherNode: async () => false };
  const feed = new DeploymentFeed<SmallMessage>({ runtime: movedRuntime(), ...alone, failed });
  t.after(() => feed.stop());
  ecosystem.subscribe((message) => feed.take(message));
  const at = (url: string, clock: Runtime) => fedConnector(url, feed, clock);
  return { ecosystem, connector: at(ecosystem.url, runtime), astray: at("http://127.0.0.1:1", runtime), at };
}

async function startHarness(t: TestContext): Promise<ConnectorHarness> {
  const { ecosystem, connector, astray, at } = await startFed(t, movedRuntime());
  return {
    connector,
    impatient: at(ecosystem.url, hurriedRuntime()),
    astray,
    unknownToken: "never-Given-Out",
    account: {
      token,
      change: async () => ecosystem.leave(),
      sendAgain: async () => ecosystem.sendStructure(),
      revoke: async () => ecosystem.revoke(),
      hangUp: async () => ecosystem.hangUp(),
    },
  };
}

/** A runtime whose timers end in the next turn of the event loop. */
function hurriedRuntime(): Runtime {
  return {
    ...movedRuntime(),
    after(_, act) {
      const immediate = setImmediate(act);
      return () => clearImmediate(immediate);
    },
  };
}
