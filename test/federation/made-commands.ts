import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { readCommand } from "../../src/home/command.ts";
import { isCommandError } from "../../src/home/command-errors.ts";
import type { Home } from "../../src/home/home.ts";
import { thermostatKey } from "../../src/home/reported-things.ts";
import type { Thermostat } from "../../src/home/traits/thermostat.ts";
import { homeWith, structure, thermostatThing } from "../home/home-parts.ts";
import { plainThingIds } from "../home/thing-ids.ts";
import { until } from "./made-fans.ts";
import { type MadeFederationPlan, madeFederation } from "./made-federation.ts";

export interface ShownThermostat extends Partial<Thermostat["state"]> {
  readonly fanTimerActive?: boolean;
  readonly isOnline?: boolean;
}

/** A home with one thermostat, which heats to 20 °C unless the test says otherwise. */
export function heatedHome({ fanTimerActive = false, isOnline = true, ...state }: ShownThermostat = {}): Home {
  const thing = thermostatThing({ structureId: "s1", fanTimerActive, isOnline });
  const { thermostat } = thing.traits;
  const targets = { mode: "heat", heatCelsius: 20, coolCelsius: 25, targetCelsius: 20 } as const;
  const traits = {
    ...thing.traits,
    thermostat: {
      ...thermostat!,
      state: { ...thermostat!.state, ...targets, ...state },
    },
  };
  return homeWith({
    structures: { s1: structure() },
    thermostats: { t1: { isRead: true, object: { ...thing, traits } } },
  });
}

/** Ada's linked and live thermostat, a client that commands it, and an ecosystem that the test controls. */
export async function madeCommands(t: TestContext, plan: MadeFederationPlan & { readonly home?: Home } = {}) {
  const { home = heatedHome(), ...rest } = plan;
  const made = await madeFederation(t, rest);
  const { federation, connector, store, userId } = made;
  const deviceId = await made.linkLive(home);
  const thingId = plainThingIds(userId, "nest", thermostatKey("t1"));
  const caller = { kind: "user", userId } as const;
  await federation.fans.start();
  await federation.commands.start();

  const receipt = (id: string) => federation.control.receipt(caller, thingId, id);
  return {
    ...made,
    deviceId,
    thingId,
    caller,
    receipt,
    /** Sends a command, and returns its receipt. */
    async send(trait: string, name: string, params: object = {}) {
      const command = readCommand(trait, name, params);
      assert.ok(!isCommandError(command), JSON.stringify(command));
      return federation.control.command(caller, thingId, { command, clientId: "client" });
    },
    /** The sent actions, when there are `count`; returns the last. */
    async sent(count: number) {
      await until(() => assert.equal(connector.actions.length, count));
      return connector.actions[count - 1]!;
    },
    /** Waits until the command is in this state, and returns its receipt. */
    async becomes({ id }: { readonly id: string }, state: string) {
      await until(async () => assert.equal((await receipt(id)).state, state));
      return receipt(id);
    },
    /** Sends the home on the stream and waits until it is stored. */
    async shows(shown: ShownThermostat) {
      const before = (await store.read((tx) => tx.devices.find(userId, deviceId)))?.lastTimeMs;
      connector.stream.brings(heatedHome(shown));
      await until(async () => {
        const now = (await store.read((tx) => tx.devices.find(userId, deviceId)))?.lastTimeMs;
        assert.notEqual(now, before);
      });
    },
  };
}
