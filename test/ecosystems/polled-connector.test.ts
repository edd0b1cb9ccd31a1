import type { TestContext } from "node:test";
import type { Connector } from "../../src/ecosystems/connector.ts";
import { followByReading } from "../../src/ecosystems/kit/poller.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { type ConnectorHarness, describeConnector } from "../contracts/connector.contract.ts";
import { manualRuntime } from "../federation/manual-runtime.ts";
import { smallConnector } from "./small-api.ts";
import { SmallEcosystem, token } from "./small-ecosystem.ts";

const everyMs = 60_000;
const answerLimitMs = 5_000;

describeConnector("polled", startHarness, { isPolled: true });

/** A connector that only reads, built from the kit. */
function polledConnector(url: string, runtime: Runtime): Connector {
  const small = smallConnector(url);
  return {
    ...small,
    follow: (given, listener, signal) =>
      followByReading(
        { read: (inTime) => small.read(given, inTime), everyMs, answerLimitMs, runtime },
        listener,
        signal,
      ),
  };
}

async function startHarness(t: TestContext): Promise<ConnectorHarness> {
  const [ecosystem, quiet] = [new SmallEcosystem(), new SmallEcosystem()];
  await ecosystem.start(t);
  await quiet.start(t);
  quiet.answeredReads = 1;
  const runtime = manualRuntime();
  const nextRead = () => runtime.advance(everyMs);
  const connector = polledConnector(ecosystem.url, runtime);
  return {
    connector: {
      ...connector,
      async act(...args) {
        const outcome = await connector.act(...args);
        await nextRead();
        return outcome;
      },
      async revoke(...args) {
        const isRevoked = await connector.revoke(...args);
        await nextRead();
        return isRevoked;
      },
    },
    withShortTimeout: polledConnector(quiet.url, hurriedRuntime(quiet)),
    unreachable: polledConnector("http://127.0.0.1:1", runtime),
    unknownToken: "never-Given-Out",
    account: {
      token,
      async change() {
        ecosystem.leave();
        await nextRead();
      },
      sendAgain: nextRead,
      async revoke() {
        ecosystem.revoke();
        await nextRead();
      },
      hangUp: () => Promise.reject(new Error("a polled ecosystem has no connection")),
    },
  };
}

/** A runtime whose pauses end at once. The time limit of a read ends when the ecosystem has left a read open. */
function hurriedRuntime(ecosystem: SmallEcosystem): Runtime {
  const leftOpen = new Promise<void>((resolve) => {
    ecosystem.leftOpen = resolve;
  });
  return {
    ...manualRuntime(),
    after(delayMs, act) {
      let isCancelled = false;
      const run = () => void (isCancelled || act());
      if (delayMs === answerLimitMs) void leftOpen.then(run);
      else setImmediate(run);
      return () => {
        isCancelled = true;
      };
    },
  };
}
