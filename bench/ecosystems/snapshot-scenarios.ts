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
  const left = putOf(shown(document));
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

/** Changes a field that the virtual device does not show. */
export function unseen(document: string): string {
  return document.replace(/"has_leaf":(true|false)/, (leaf) => (leaf.endsWith("true") ? leafless : leafy));
}

/** Changes a measured value, by less than the difference at which it is committed at once. */
export function warmer(document: string): string {
  return document.replace(
    /"ambient_temperature_c":(-?[\d.]+)/,
    (_, celsius) => `"ambient_temperature_c":${Number(celsius) + 0.2}`,
  );
}

/** Changes a field that the virtual device shows. */
export function shown(document: string): string {
  return document.replace('"away":"home"', '"away":"away"');
}

/** The event with which a stream reports the document. */
export function putOf(document: string): Buffer {
  return Buffer.from(`event: put\ndata: {"path":"/","data":${document}}\n\n`);
}
