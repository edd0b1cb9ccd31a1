import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ChildServer } from "../../bench/ecosystems/child-server.ts";
import type { Deployment } from "./budgets/attack.ts";
import { attacks } from "./budgets/attacks.ts";
import { type Figures, shownFigures, shownSummary } from "./budgets/figures.ts";
import { shownSightings } from "./budgets/sightings.ts";
import { canBindNameServer } from "./budgets/silent-name-server.ts";
import { isThisTree, makeTemplate, type Template, tree } from "./budgets/template.ts";
import { type Attackers, underAttack } from "./budgets/under-attack.ts";

/**
 * One caller must not slow down another: each attack runs against a real service while another tenant reads, writes,
 * signs in and receives its alarm. The test asserts mechanisms, and prints times beside their targets. At the end comes a
 * table of the messages of outside clouds, with the bounds that were seen.
 *
 * `BREEZEWAY_UNDER_TEST=<folder>` attacks the service of another checkout: then nothing is asserted, and failed checks are
 * printed. `BREEZEWAY_ATTACKS=<name>;<name>` selects attacks, `BREEZEWAY_ATTACKED=SQLite` or `PostgreSQL` selects one
 * deployment.
 */
const deployments: readonly Deployment[] = ["SQLite, direct", "PostgreSQL behind nginx"];
const attacked = deployments.filter((one) => one.startsWith(process.env.BREEZEWAY_ATTACKED ?? ""));
const wanted = process.env.BREEZEWAY_ATTACKS?.split(";");
const program = new URL("./budgets/attackers-process.ts", import.meta.url).href;

for (const deployment of attacked) {
  describe(`a neighbour of an attacker, on ${deployment}`, () => {
    let template: Template;
    let attackers: Attackers;
    const all: Figures[] = [];

    before(async () => {
      attackers = await ChildServer.start(program);
      template = await makeTemplate(deployment, attackers.url);
      process.stdout.write(`\n${deployment}${isThisTree ? "" : `, the service of ${tree}`}\n\n`);
    });

    after(async () => {
      const sightings = all.flatMap((figures) => figures.sightings);
      process.stdout.write(`\n${deployment}\n\n${shownSummary(all)}\n`);
      if (sightings.length > 0) process.stdout.write(`\n${shownSightings(sightings)}\n\n`);
      await template.stop();
      await attackers[Symbol.asyncDispose]();
    });

    for (const attack of attacks) {
      if (attack.only && attack.only !== deployment) continue;
      if (wanted && !wanted.includes(attack.name)) continue;
      const needsRoot = attack.hasSilentNameServer === true && !canBindNameServer;
      const options = { timeout: 600_000, skip: needsRoot ? "only root may take the port of a name server" : false };
      it(`is answered, and receives its alarm: ${attack.name}`, options, async (t) => {
        const figures = await underAttack(t, { attack, deployment, template, attackers });
        all.push(figures);
        process.stdout.write(`${shownFigures(figures)}\n`);
        if (isThisTree) assert.deepEqual(figures.broken, []);
      });
    }
  });
}
