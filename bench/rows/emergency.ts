import type { AlarmedHome, Latencies } from "../alarmed-home.ts";
import { type BurningHouse, burningHouse } from "../burning-house.ts";
import { everydayMs } from "../ecosystems/noisy-ecosystem.ts";
import type { Result, Row } from "../row.ts";

/** `LINKS=100 ROUNDS=1` measures briefly. */
const others = Number(process.env.LINKS ?? 1_000);
const noise = 100;
/** Silent and noisy rounds alternate, so that other load on the machine affects both. */
const rounds = Number(process.env.ROUNDS ?? 5);
const alarmsInRound = 24;
const deadlineMs = 30_000;

/**
 * How soon an emergency reaches its owner while a thousand other accounts change, and while they are silent. While they
 * are silent, the alarm of a Home Assistant that the same service follows sounds in turn.
 */
export const emergency: Row = {
  name: "emergency",
  async measure(progress) {
    progress(`linking ${others} accounts`);
    await using house = await burningHouse({ others, hasInstance: true });
    const instance = house.instance!;
    await soundAlarms(house, 3);
    await soundAlarms(instance, 3);
    const latencies = { silent: [] as Latencies[], noisy: [] as Latencies[], instance: [] as Latencies[] };
    const ofRounds: number[] = [];
    for (let round = 1; round <= rounds; round++) {
      progress(`round ${round} of ${rounds}`);
      await house.ecosystem.makeNoise(0);
      const silent: Latencies[] = [];
      for (let i = 0; i < alarmsInRound; i++) {
        silent.push(await house.soundAlarm(deadlineMs));
        latencies.instance.push(await instance.soundAlarm(deadlineMs));
      }
      const noisy = await amongNoise(house);
      latencies.silent.push(...silent);
      latencies.noisy.push(...noisy);
      ofRounds.push(p99(noisy, "target") / p99(silent, "target"));
    }
    const among = `${others} accounts that change ${noise} times as often as usual`;
    const spread = [Math.min(...ofRounds), Math.max(...ofRounds)] as const;
    const inMs = (what: string, some: readonly Latencies[], way: keyof Latencies, part = 0.99) => {
      const sorted = some.map((one) => one[way]).sort((a, b) => a - b);
      const shown = [sorted[0]!, sorted.at(-1)!] as const;
      return {
        what,
        reference: null,
        figure: quantile(some, way, part),
        unit: "ms" as const,
        spread: shown,
        bar: null,
      };
    };
    return [
      {
        what: `p99 until the write of an emergency's alert is reported, among ${among}`,
        reference: "the same while they are silent",
        figure: p99(latencies.noisy, "target") / p99(latencies.silent, "target"),
        unit: "x",
        spread,
        bar: { atMost: 2 },
      },
      inMs("p99 of the same, while they are silent", latencies.silent, "target"),
      inMs("p99 of the same, among the noise", latencies.noisy, "target"),
      inMs("p99 until its webhook is called, among the noise", latencies.noisy, "webhook"),
      inMs("median until Google is notified of the smoke, while they are silent", latencies.silent, "assistant", 0.5),
      inMs("p99 of the same", latencies.silent, "assistant"),
      inMs("median until Google is notified of the smoke, among the noise", latencies.noisy, "assistant", 0.5),
      inMs("p99 of the same", latencies.noisy, "assistant"),
      ...ways.flatMap(([way, notification]) => [
        inMs(
          `median until ${notification} the smoke of a Home Assistant, while they are silent`,
          latencies.instance,
          way,
          0.5,
        ),
        inMs("p99 of the same", latencies.instance, way),
        ratio(`median until ${notification} the smoke of a Home Assistant`, latencies, way, 0.5),
        ratio("p99 of the same", latencies, way, 0.99),
      ]),
    ];
  },
};

async function amongNoise(house: BurningHouse): Promise<readonly Latencies[]> {
  const { ecosystem } = house;
  await ecosystem.makeNoise(noise);
  await ecosystem.untilChanged((await ecosystem.changes()) + others);
  const before = { changes: await ecosystem.changes(), atMs: performance.now() };
  const latencies = await soundAlarms(house, alarmsInRound);
  const usual = (others * (performance.now() - before.atMs)) / everydayMs;
  const times = ((await ecosystem.changes()) - before.changes) / usual;
  if (times < noise / 2) throw new Error(`the noise was ${times.toFixed(0)} times the usual, not ${noise}`);
  return latencies;
}

/** By which ways an owner hears of smoke. */
const ways = [
  ["alarm", "a stream tells"],
  ["webhook", "the webhook of an alert is called about"],
  ["assistant", "Google is notified of"],
] as const;

/** A Home Assistant against the first ecosystem, in the same rounds. */
function ratio(
  what: string,
  { instance, silent }: Readonly<Record<"instance" | "silent", readonly Latencies[]>>,
  way: keyof Latencies,
  part: number,
): Result {
  const figure = quantile(instance, way, part) / quantile(silent, way, part);
  return { what, reference: "the same of a Nest account", figure, unit: "x", spread: null, bar: null };
}

async function soundAlarms(house: AlarmedHome, times: number): Promise<readonly Latencies[]> {
  const latencies: Latencies[] = [];
  for (let i = 0; i < times; i++) latencies.push(await house.soundAlarm(deadlineMs));
  return latencies;
}

function p99(latencies: readonly Latencies[], way: keyof Latencies): number {
  return quantile(latencies, way, 0.99);
}

function quantile(latencies: readonly Latencies[], way: keyof Latencies, part: number): number {
  const sorted = latencies.map((one) => one[way]).sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * part) - 1]!;
}
