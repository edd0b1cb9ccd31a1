/** A sequence of changes in an account. Each scenario ends with the snapshot with which it began. */
export type Scenario = "an ordinary day" | "one field that is shown" | "one field that is not shown" | "nothing new";

/** The events of each scenario, one per snapshot. */
export type Scenarios = Readonly<Record<Scenario, readonly Buffer[]>>;

/** The number of snapshots in each scenario. */
export const waves = 12;

/** Scenes of the simulator's daily life: changes of shown fields, alternating with changes of fields that are not shown. */
export const ordinaryDay = [
  ...["fan-on", "drift", "fan-off", "drift", "leave", "drift"],
  ...["come-home", "drift", "alarm-offline"],
];

/** `day` holds the document after each scene of an ordinary day. */
export function scenariosOf(document: string, day: readonly string[]): Scenarios {
  const same = putOf(document);
  const drifted = putOf(document.replace(/"humidity":\d\d/, '"humidity":99'));
  const left = putOf(document.replace('"away":"home"', '"away":"away"'));
  const inTurn = (other: Buffer) => Array.from({ length: waves / 2 }, () => [other, same]).flat();
  return {
    "an ordinary day": [...day.map(putOf), same, drifted, same],
    "one field that is shown": inTurn(left),
    "one field that is not shown": inTurn(drifted),
    "nothing new": Array.from({ length: waves }, () => same),
  };
}

function putOf(document: string): Buffer {
  return Buffer.from(`event: put\ndata: {"path":"/","data":${document}}\n\n`);
}
