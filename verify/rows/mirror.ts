import type { Json } from "../client/deployment.ts";
import { type DeviceBody, homeOf, largeStrings, linkedDevice } from "../client/linked-account.ts";
import type { Row } from "../row.ts";
import type { RowContext } from "../row-context.ts";

export const mirror: Row = {
  name: "mirror",
  group: "The linked account",
  title: "The house is mirrored",
  proves:
    "Every structure, thermostat and alarm stands in the index map and in the attributes as it is upstream, and a change arrives.",
  isEssential: true,
  needs: [],
  after: ["link"],
  unless: ["write", "times"],
  async run(context) {
    const { simulator, shared } = context;
    const accountId = shared.account!.id;
    let difference = "";
    const isSame = async () => {
      difference = (await firstDifference(context)) ?? "";
      return difference === "" ? true : undefined;
    };
    const orElse = (when: string) => () => ({
      seen: `${when}, the mirror differs for 10 seconds: ${difference}.`,
      side: "service" as const,
      next: "GET federatedtokens shows how the link stands and why; the simulator's page shows what it sent.",
    });
    await context.eventually(isSame, orElse("After linking"));
    await simulator!.play(accountId, { scene: "smoke" });
    const startMs = performance.now();
    await context.eventually(isSame, orElse("After smoke in the simulated home"));
    const tookMs = Math.round(performance.now() - startMs);
    await simulator!.play(accountId, { scene: "clear" });
    await context.eventually(isSame, orElse("After the smoke has cleared"));
    return { seen: `All of it is the same upstream and here; smoke was here within ${tookMs} ms.` };
  },
};

/** What is shown otherwise than it is upstream, in words; undefined when all is the same. */
async function firstDifference(context: RowContext): Promise<string | undefined> {
  const { structureId, structure, thermostats, alarms } = await homeOf(context);
  const { labels, identifiers } = await largeStrings(context);
  const shown = await linkedDevice(context);
  if (shown.presenceInfo !== 1 || shown.stale === true) return "the device is shown as absent or stale";
  const x = identifiers[structureId]?.[0];
  if (labels[structure.name] !== structureId || x === undefined)
    return `structure ${structure.name} isn't in the index map`;
  const at = (name: string) => shown.attributes[`d.structures[${x}].${name}`]?.value;
  for (const field of ["away", "name", "structure_id"]) {
    if (at(`a.${field}`) !== structure[field])
      return `${field} of the structure is ${at(`a.${field}`)}, upstream ${structure[field]}`;
  }
  const smoke = alarms.some((alarm: Json) => alarm.smoke_alarm_state === "emergency");
  const summary = shown.attributes[`o.structures[${x}].emergencies.smoke`]?.value;
  if (summary !== String(smoke)) return `emergencies.smoke is ${summary}, upstream ${smoke}`;
  return (
    differenceOf(shown, x, "thermostats", thermostats, ["name", "is_online", "has_fan", "fan_timer_active"]) ??
    differenceOf(shown, x, "smokeCoAlarms", alarms, [
      "name",
      "is_online",
      "smoke_alarm_state",
      "co_alarm_state",
      "ui_color_state",
    ])
  );
}

function differenceOf(
  { attributes }: DeviceBody,
  x: string,
  kind: string,
  devices: readonly Json[],
  fields: readonly string[],
): string | undefined {
  for (const one of devices) {
    const place = Object.keys(attributes).find(
      (name) =>
        name.startsWith(`d.structures[${x}].d.${kind}[`) &&
        name.endsWith("].device_id") &&
        attributes[name]?.value === one.device_id,
    );
    if (place === undefined) return `${kind} has no ${one.name}`;
    for (const field of fields) {
      const value = attributes[place.replace(/device_id$/, field)]?.value;
      if (value !== String(one[field])) return `${field} of ${one.name} is ${value}, upstream ${one[field]}`;
    }
  }
  return undefined;
}
