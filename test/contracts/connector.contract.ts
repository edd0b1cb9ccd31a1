import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { inspect } from "node:util";
import type { Connector, StreamEnd } from "../../src/ecosystems/connector.ts";
import type { Home } from "../../src/home/home.ts";
import { EcosystemRefused, EcosystemUnreachable } from "../../src/model/errors.ts";
import { fanAction } from "../ecosystems/actions.ts";
import { listen } from "../ecosystems/listening.ts";

/** An ecosystem under the test's control, with connectors to it. All of it ends with the test. */
export interface ConnectorHarness {
  readonly connector: Connector;
  /** A connector whose silence timeout is a fraction of a second. */
  readonly withShortTimeout: Connector;
  /** A connector to an address where nothing listens. */
  readonly unreachable: Connector;
  /** A token that the ecosystem never issued. */
  readonly unknownToken: string;
  readonly account: {
    readonly token: string;
    /** Changes a value that is mirrored. */
    change(): Promise<void>;
    /** The ecosystem sends its last snapshot again. */
    sendAgain(): Promise<void>;
    revoke(): Promise<void>;
    /** The ecosystem closes the open streams. */
    hangUp(): Promise<void>;
  };
}

/**
 * The contract of every ecosystem's connector (`ecosystems/connector.ts`). `isPolled`: the ecosystem can only be read, so
 * it has no connection to close. `announcesRevocation`: false when the ecosystem only closes the connection, and refuses
 * the next one. `canRevoke`: false when only a person can revoke a token at the ecosystem.
 */
export function describeConnector(
  name: string,
  start: (t: TestContext) => Promise<ConnectorHarness>,
  { isPolled = false, announcesRevocation = true, canRevoke = true } = {},
): void {
  describe(`the ${name} connector`, () => {
    it("verifies a valid token by reading the account", async (t) => {
      const { connector, account } = await start(t);
      const read = await connector.read(account.token, unending());
      assert.ok(read.structures.isWhole && read.thermostats.isWhole && read.alarms.isWhole);
      assert.ok(read.structures.byId.size > 0);
      assert.doesNotMatch(inspect(read, { depth: null }), holding(account.token));
    });

    it("reports a refused token and an unreachable ecosystem, without revealing the token", async (t) => {
      const { connector, unreachable, account, unknownToken } = await start(t);
      await assert.rejects(connector.read(unknownToken, unending()), quietly(EcosystemRefused, unknownToken));
      await assert.rejects(unreachable.read(account.token, unending()), quietly(EcosystemUnreachable, account.token));
      assertEnd(await listen(connector, unknownToken).ended, "unauthorized", unknownToken);
      assertEnd(await listen(unreachable, account.token).ended, "unreachable", account.token);
    });

    it("reports the account at connection, each change, and a repeated snapshot", async (t) => {
      const { connector, account } = await start(t);
      const stream = listen(connector, account.token);
      await stream.until(1);
      assert.deepEqual(stream.heard[0], await connector.read(account.token, unending()));
      await account.change();
      await stream.until(2);
      assert.notDeepEqual(stream.heard[1], stream.heard[0]);
      assert.deepEqual(stream.heard[1], await connector.read(account.token, unending()));
      // A connector may need two repetitions to recognise one.
      await account.sendAgain();
      await stream.until(3);
      if (stream.heard[2] !== "unchanged") assert.deepEqual(stream.heard[2], stream.heard[1]);
      await account.sendAgain();
      await stream.until(4);
      assert.equal(stream.heard[3], "unchanged");
      stream.stop();
      assertEnd(await stream.ended, "stopped", account.token);
    });

    it("reports the whole account again on each connection", async (t) => {
      const { connector, account } = await start(t);
      const first = listen(connector, account.token);
      await first.until(1);
      first.stop();
      await first.ended;
      await account.change();
      const second = listen(connector, account.token);
      await second.until(1);
      assert.notEqual(second.heard[0], "unchanged");
      assert.notDeepEqual(second.heard[0], first.heard[0]);
      second.stop();
      await second.ended;
    });

    it("ends as unauthorized when the token is revoked", async (t) => {
      const { connector, account } = await start(t);
      const stream = listen(connector, account.token);
      await stream.until(1);
      await account.revoke();
      assertEnd(await stream.ended, announcesRevocation ? "unauthorized" : "closed", account.token);
      if (!announcesRevocation) {
        assertEnd(await listen(connector, account.token).ended, "unauthorized", account.token);
      }
      await assert.rejects(connector.read(account.token, unending()), quietly(EcosystemRefused, account.token));
    });

    if (!isPolled) {
      it("ends as closed when the ecosystem closes the connection", async (t) => {
        const { connector, account } = await start(t);
        const stream = listen(connector, account.token);
        await stream.until(1);
        await account.hangUp();
        assertEnd(await stream.ended, "closed", account.token);
      });
    }

    it("ends as silent when no more bytes arrive", async (t) => {
      const { withShortTimeout, account } = await start(t);
      const stream = listen(withShortTimeout, account.token);
      await stream.until(1);
      assertEnd(await stream.ended, "silent", account.token);
    });

    it("ends as stopped, also before the first event", async (t) => {
      const { connector, account } = await start(t);
      const stream = listen(connector, account.token);
      stream.stop();
      assertEnd(await stream.ended, "stopped", account.token);
      assert.deepEqual(stream.heard, []);
    });

    it("ends as stopped, whatever has arrived by then", { timeout: 20_000 }, async (t) => {
      const { connector, account } = await start(t);
      for (const turns of [1, 3, 6, 12]) {
        const stream = listen(connector, account.token);
        for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
        stream.stop();
        assertEnd(await stream.ended, "stopped", account.token);
      }
    });

    it("runs a fan, and the stream reports it", async (t) => {
      const { connector, account, unknownToken } = await start(t);
      const stream = listen(connector, account.token);
      await stream.until(1);
      const { thermostats } = await connector.read(account.token, unending());
      const [thermostatId] = thermostats.byId.keys();
      const action = fanAction(thermostatId!, true);
      const outcome = await connector.act(account.token, action, unending());
      assert.ok(outcome.state === "accepted");
      await stream.until(2);
      // Where the ecosystem says what caused a state, the connector reports it.
      await outcome.caused;
      const heard = stream.heard[1] as Home;
      const sighting = heard.thermostats.byId.get(thermostatId!);
      const { fanTimer, fan } = sighting?.isRead ? sighting.object.traits : {};
      assert.equal(fanTimer?.state.active ?? fan?.state.mode === "on", true);
      stream.stop();
      await stream.ended;
      const refused = await connector.act(unknownToken, action, unending());
      assert.deepEqual(refused, { state: "unauthorized" });
    });

    it("reports an unknown outcome when the ecosystem can't be reached, and never throws", async (t) => {
      const { unreachable, account } = await start(t);
      const outcome = await unreachable.act(account.token, fanAction("t", true), unending());
      assert.equal(outcome.state, "unanswered");
      assert.doesNotMatch(inspect(outcome), holding(account.token));
      assert.equal(await unreachable.revoke(account.token, unending()), false);
    });

    it("revokes a token where the ecosystem allows it, which ends its stream", async (t) => {
      const { connector, account } = await start(t);
      const stream = listen(connector, account.token);
      await stream.until(1);
      assert.equal(await connector.revoke(account.token, unending()), canRevoke);
      if (!canRevoke) stream.stop();
      assertEnd(await stream.ended, canRevoke ? "unauthorized" : "stopped", account.token);
    });

    it("waits a bounded, random time between connections", async (t) => {
      const { connector } = await start(t);
      for (const reason of ["closed", "silent", "unreachable", "refused", "malformed"] as const) {
        for (const failures of [0, 1, 10, 10_000]) {
          const pause = (random: number) => connector.pauseMs({ reason, detail: "" }, failures, () => random);
          assert.ok(pause(0) >= 0 && pause(0) < pause(0.5) && pause(0.5) < pause(0.999) && pause(0.999) <= 300_000);
        }
      }
    });
  });
}

function unending(): AbortSignal {
  return new AbortController().signal;
}

function assertEnd(end: StreamEnd, reason: StreamEnd["reason"], token: string): void {
  assert.equal(end.reason, reason);
  assert.doesNotMatch(end.detail, holding(token));
}

function quietly(kind: typeof EcosystemRefused | typeof EcosystemUnreachable, token: string) {
  return (error: unknown) => {
    assert.ok(error instanceof kind, inspect(error));
    assert.doesNotMatch(inspect(error, { depth: null, showHidden: true }), holding(token));
    return true;
  };
}

function holding(token: string): RegExp {
  return new RegExp(RegExp.escape(token), "i");
}
