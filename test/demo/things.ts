import type { Thing, ThingField, ThingTrait } from "../../sdk/src/index.ts";

const changedMs = Date.UTC(2026, 0, 5, 12, 3, 4);

type Values = Readonly<Record<string, ThingField["value"]>>;

/** A trait with these values; it answers unless `available` says otherwise. */
export function trait(values: Values, capabilities: ThingTrait["capabilities"] = {}): ThingTrait {
  const state = Object.entries({ available: true, ...values });
  return { capabilities, state: Object.fromEntries(state.map(([name, value]) => [name, field(value)])) };
}

const field = (value: ThingField["value"]): ThingField => ({ value, updateTime: changedMs });

export function thing(kind: Thing["kind"], traits: Readonly<Record<string, ThingTrait>>, fields = {}): Thing {
  const told = { room: null, maker: null, model: null, source: "nest", stale: false, confirmedTime: changedMs };
  return {
    ...{ thingId: `t_${kind}`, deviceId: 1, kind, name: "Den", homeName: "Maple Street", goneTime: undefined },
    ...told,
    ...fields,
    traits,
  };
}

/** The page without the tags of its times in UTC. */
export function withPlainTimes(page: string): string {
  return page.replace(/<time [^>]*data-local="[^"]*">([^<]*)<\/time>/g, "$1");
}

export const modes = ["off", "heat", "cool", "heatCool", "eco"];

/** A thermostat that heats; `values` are of its trait `thermostat`. */
export function thermostat(values: Values = {}, fan: Values = { active: false }, hasFan = true): Thing {
  const available = values.available ?? true;
  return thing("thermostat", {
    temperature: trait({ celsius: 21.5, available }),
    humidity: trait({ percent: 45, available }),
    thermostat: trait({ mode: "heat", targetCelsius: 20, ...values }, { modes }),
    fanTimer: trait({ available, ...fan }, { supported: hasFan }),
  });
}

export function alarm(smoke: Values, carbonMonoxide: Values, battery: Values = { state: "ok" }): Thing {
  return thing("alarm", { smoke: trait(smoke), carbonMonoxide: trait(carbonMonoxide), battery: trait(battery) });
}
