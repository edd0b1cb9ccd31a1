/** What happens in an account; at the end of each story everything is as it was at its beginning. */
export type Story = "an ordinary day" | "one field that is shown" | "one field that is not shown" | "nothing new";

/** Each story as the ecosystem tells it, snapshot by snapshot. */
export type Stories = Readonly<Record<Story, readonly Buffer[]>>;

/** So many snapshots has each story. */
export const waves = 12;

/** As the simulator lets time pass: every other time it is something that the devices show, and the air in between. */
export const ordinaryDay = [
  ...["fan-on", "drift", "fan-off", "drift", "leave", "drift"],
  ...["come-home", "drift", "alarm-offline"],
];

/** `day`: the document after each scene of an ordinary day. */
export function storiesOf(document: string, day: readonly string[]): Stories {
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
