/** A sequence of changes in an account. Each scenario ends with what is shown at its beginning. */
export type Scenario =
  | "an ordinary day"
  | "one field that is shown"
  | "one field that is not shown"
  | "a measured value"
  | "nothing new";

/** The events of each scenario, one per snapshot. */
export type Scenarios = Readonly<Record<Scenario, readonly Buffer[]>>;

/** The number of snapshots in each scenario. */
export const waves = 12;

/** Scenes of the simulator's daily life. Each changes fields that are shown. */
export const ordinaryDay = ["fan-on", "fan-off", "leave", "come-home", "alarm-offline"];

/** `day` holds the document after each scene of an ordinary day. */
export function scenariosOf(document: string, day: readonly string[]): Scenarios {
  const same = putOf(document);
  const unseen = (one: string) =>
    one.replace(/"has_leaf":(true|false)/, (leaf) => (leaf.endsWith("true") ? leafless : leafy));
  // Less than the difference at which a measured value is committed at once.
  const warmer = (one: string) =>
    one.replace(
      /"ambient_temperature_c":(-?[\d.]+)/,
      (_, celsius) => `"ambient_temperature_c":${Number(celsius) + 0.2}`,
    );
  const left = putOf(document.replace('"away":"home"', '"away":"away"'));
  const inTurn = (other: Buffer) => Array.from({ length: waves / 2 }, () => [other, same]).flat();
  return {
    "an ordinary day": [...day.flatMap((one) => [one, unseen(one)]).map(putOf), same, putOf(unseen(document))],
    "one field that is shown": inTurn(left),
    "one field that is not shown": inTurn(putOf(unseen(document))),
    "a measured value": inTurn(putOf(warmer(document))),
    "nothing new": Array.from({ length: waves }, () => same),
  };
}

const [leafy, leafless] = ['"has_leaf":true', '"has_leaf":false'];

function putOf(document: string): Buffer {
  return Buffer.from(`event: put\ndata: {"path":"/","data":${document}}\n\n`);
}
