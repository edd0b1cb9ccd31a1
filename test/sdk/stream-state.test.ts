import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Breezeway, type LinkEvent, NotSignedIn, type StreamState } from "../../sdk/src/index.ts";
import { runCommand } from "../cli/run-command.ts";
import { faultyFront } from "../set-up/faulty-front.ts";
import { startChild } from "../stories/child-service.ts";
import { killableDeployment } from "../stories/killable-deployment.ts";

const timeout = 120_000;

describe("the state of a stream in the SDK", () => {
  it("is stale with a reason and a time whenever the stream is not reliable", { timeout }, async (t) => {
    const house = await killableDeployment(t, "sqlite");
    const { environment, simulator } = house;
    const { token, accountId } = simulator.addAccount({ structures: [{ thermostats: 1, alarms: 1 }] });
    const serve = (port: string) => startChild("serve", { ...environment, BREEZEWAY_PORT: port });
    const service = await serve("0");
    t.after(() => service.process.kill("SIGKILL"));
    house.baseUrl = service.baseUrl;
    await house.signIn();
    await house.client.federate("POST", token);
    const front = await faultyFront(t, service.baseUrl);
    const { accessToken } = await house.authorizeClient();

    const states = inTurn<StreamState>();
    const links = inTurn<LinkEvent>();
    const client = new Breezeway({ baseUrl: front.url, accessToken });
    const following = (async () => {
      for await (const event of client.events({ onState: states.push })) if (event.type === "link") links.push(event);
    })();
    const ended = following.then(
      () => undefined,
      (error: unknown) => error,
    );
    assert.deepEqual(await states.next(), { state: "stale", asOf: undefined, reason: undefined }, "no event yet");
    const isLive = async () => assert.equal((await states.next()).state, "live");
    const isStale = async (name: string | undefined) => {
      const state = await states.next();
      assert.ok(state.state === "stale" && typeof state.asOf === "number");
      assert.equal(state.reason instanceof Error ? state.reason.name : state.reason, name);
    };
    await isLive();

    front.become("silent streams");
    await isStale("Unreachable");
    front.become("open");
    await isLive();

    service.process.kill("SIGSTOP");
    await isStale("Unreachable");
    service.process.kill("SIGCONT");
    await isLive();

    // The ecosystem closes its stream: the event stream is live, the account is not.
    simulator.drop(accountId);
    assert.equal((await links.next()).state, "waiting");
    assert.equal((await links.next()).state, "live");

    front.become("unavailable");
    front.drop();
    await isStale("Unreachable");
    front.become("open");
    await isLive();

    const password = { environment, input: "a new and good password\n" };
    assert.equal((await runCommand(["user", "set-password", "1"], password)).code, 0);
    await isStale(undefined);
    await isStale("NotSignedIn");
    assert.ok((await ended) instanceof NotSignedIn);
  });
});

/** A queue of values; each is taken once. */
function inTurn<Value>() {
  const waiting: Value[] = [];
  let wake = () => {};
  return {
    push(value: Value) {
      waiting.push(value);
      wake();
    },
    async next(): Promise<Value> {
      while (waiting.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return waiting.shift()!;
    },
  };
}
