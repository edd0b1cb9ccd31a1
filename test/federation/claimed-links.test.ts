import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commitOn } from "../../src/devices/commit.ts";
import { DeviceStates } from "../../src/devices/states.ts";
import { federationOn } from "../../src/federation/federation.ts";
import type { NodeId } from "../../src/model/ids.ts";
import { Membership } from "../../src/nodes/membership.ts";
import { OutgoingCalls } from "../../src/runtime/network/outgoing-calls.ts";
import { processRuntime } from "../../src/runtime/process/process-runtime.ts";
import { onStore } from "../contracts/store/harness.ts";
import { silent } from "../contracts/store/home.ts";
import { postgresHarness } from "../contracts/store/postgres-harness.ts";
import { plainThingIds } from "../home/thing-ids.ts";
import { missingPostgres } from "../set-up/postgres.ts";
import { flushPromises } from "./manual-runtime.ts";
import { ScriptedConnector } from "./scripted-connector.ts";
import { storeLinks } from "./stored-links.ts";

describe("a node that claims links on PostgreSQL", { skip: missingPostgres() ?? false }, () => {
  it("follows all but the one whose token it can't open, and shows why", { timeout: 30_000 }, (t) =>
    onStore(postgresHarness, async (store) => {
      // Links of a dead node: this node claims them all at once.
      const links = await storeLinks(store, 6, () => ({ owner: "node-dead" as NodeId }));
      const runtime = processRuntime(silent);
      const connector = new ScriptedConnector();
      const membership = new Membership("node-a" as NodeId, store, runtime, store.nodeBus);
      const openToken = (sealed: string) => {
        if (sealed === links[0]!.sealedToken) throw new Error("a value was sealed with key abc");
        return sealed;
      };
      const federation = federationOn({
        store,
        states: new DeviceStates(store),
        commit: commitOn({ store, reactions: [], committed: () => undefined, report: silent }),
        membership,
        connectors: new Map([["nest", connector]]),
        sealing: { seal: (token) => token, open: openToken },
        thingIdOf: plainThingIds,
        outgoing: new OutgoingCalls({ timers: runtime }),
        runtime,
      });
      await membership.start();
      try {
        await federation.start();
        const locked = () => store.read((tx) => tx.links.ofDevice(links[0]!.userId, links[0]!.deviceId));
        const reason = "its token can't be opened with the keys of this node";
        const isShown = async () => (await locked())?.reason === reason;
        while (!t.signal.aborted && (!(await isShown()) || connector.streams.length < 5)) await flushPromises();
        assert.equal(connector.streams.length, 5);
        assert.deepEqual([(await locked())?.state, (await locked())?.reason], ["waiting", reason]);
        assert.equal(federation.keeper.followed, 6, "the link is still this node's");
      } finally {
        await federation.stop();
        await membership.stop();
      }
    }),
  );
});
