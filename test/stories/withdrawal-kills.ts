import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { CommandKills } from "./command-kills.ts";
import { reportingHouse, withParts } from "./report-kills.ts";
import { eventually } from "./world.ts";

/** The ways in which a link ends: at the maker, or in the service. */
const ends = ["DISCONNECT", "skill disabled", "access of Google revoked", "access of Alexa revoked"] as const;

/**
 * Ends one of the two links, kills the service, and has smoke detected. The other maker is told, and shows that the change
 * was reported; the maker whose link has ended is not. Then the link is made again. Every second time the service is also
 * killed after it has exchanged Alexa's code and before it has stored the tokens: the next grant succeeds.
 */
export async function killAroundWithdrawals(t: TestContext, { database, seed, rounds }: CommandKills): Promise<void> {
  const house = await reportingHouse(t, { database, seed });
  const { assistants, nodes, random, play } = house;
  const { amazon, customer, graph } = assistants;
  let lostGrants = 0;
  for (let round = 0; round < rounds; round++) {
    const end = ends[(round + seed) % ends.length]!;
    const what = `round ${round} of seed ${seed}: ${end}`;
    await play("clear");
    await house.serviceShows("ok");
    await assistants.bothAreTold();
    // A report may be on its way when the link ends.
    if (random() < 0.5) await house.raise();
    const isGoogle = end === "DISCONNECT" || end === "access of Google revoked";
    if (end === "DISCONNECT") assert.deepEqual(await assistants.google.intent("DISCONNECT"), {});
    if (end === "skill disabled") amazon.disableSkill(customer);
    if (end === "access of Google revoked") await assistants.revoke(assistants.googleOutlet);
    if (end === "access of Alexa revoked") await assistants.revoke(assistants.skillOutlet);
    const [google, alexa] = [graph.received.length, customer.events.length];
    await nodes.kill();
    await play("smoke");
    await nodes.start();
    await house.serviceShows("alarm");
    if (isGoogle) await assistants.alexaIsTold();
    else await assistants.googleIsTold();
    const told = isGoogle ? graph.received.slice(google) : customer.events.slice(alexa);
    assert.doesNotMatch(JSON.stringify(told), /"smoke detected"|"DETECTED"/, what);
    if (end === "skill disabled") await isForgotten();
    if (isGoogle) {
      await assistants.linkGoogle();
    } else {
      await assistants.linkSkill();
      if (round % 2 === 0) await loseGrant();
      await assistants.enableSkill();
    }
  }
  await assistants.bothAreTold();
  await nodes.stop();
  const linked = await withParts(house.environment, ({ assistants: { grants } }) =>
    Promise.all([assistants.googleOutlet, assistants.skillOutlet].map(({ outlet }) => grants.countOfOutlet(outlet))),
  );
  assert.deepEqual(linked, [1, 1]);
  t.diagnostic(
    `${rounds} links ended and made again; ${lostGrants} codes of Alexa were exchanged and lost with a kill`,
  );

  /** Alexa refuses one report, or one a node that was killed; from then on there are none. */
  async function isForgotten(): Promise<void> {
    const calls = amazon.gatewayCalls();
    await play("clear");
    await house.serviceShows("ok");
    await assistants.googleIsTold();
    await eventually(t.signal, async () => {
      const seen = amazon.gatewayCalls();
      await house.raise();
      await assistants.googleIsTold();
      assert.equal(amazon.gatewayCalls(), seen, "Alexa is still called");
    });
    assert.ok(amazon.gatewayCalls() - calls <= 3, `seed ${seed}: ${amazon.gatewayCalls() - calls} calls`);
  }

  async function loseGrant(): Promise<void> {
    const [unanswered, events] = [amazon.unanswered(), customer.events.length];
    amazon.faults.set("tokens", { kind: "loses" }, 1);
    const granting = assistants.skill.acceptGrant(amazon.login).then(
      ({ event }) => event.payload.type,
      () => "no answer",
    );
    await eventually(t.signal, async () => assert.ok(amazon.unanswered() > unanswered));
    await nodes.kill();
    await nodes.start();
    // Of three nodes another one may have been killed: then the exchange has had no answer in time.
    assert.ok(["no answer", "ACCEPT_GRANT_FAILED"].includes((await granting) as string));
    assert.equal(customer.events.length, events, "there is no grant, so nothing is told");
    lostGrants += 1;
  }
}
