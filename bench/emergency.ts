import { type BurningHouse, burningHouse, type Heard } from "./burning-house.ts";
import { everydayMs } from "./noisy-ecosystem.ts";
import type { Row } from "./row.ts";

const others = 1_000;
const noise = 100;
/** In turns, so that whatever else happens on the machine happens to both. */
const rounds = 5;
const firesInRound = 24;
const patienceMs = 30_000;

/** What a fire costs its owner in time while a thousand other houses talk, and while they are silent. */
export const emergency: Row = {
  name: "emergency",
  async measure(tell) {
    tell(`linking ${others} accounts`);
    await using house = await burningHouse({ others });
    await burn(house, 3);
    const heard = { silent: [] as Heard[], noisy: [] as Heard[] };
    const ofRounds: number[] = [];
    for (let round = 1; round <= rounds; round++) {
      tell(`round ${round} of ${rounds}`);
      await house.ecosystem.makeNoise(0);
      const silent = await burn(house, firesInRound);
      const noisy = await amongNoise(house);
      heard.silent.push(...silent);
      heard.noisy.push(...noisy);
      ofRounds.push(p99(noisy, "target") / p99(silent, "target"));
    }
    const among = `${others} accounts that change ${noise} times as often as usual`;
    const spread = [Math.min(...ofRounds), Math.max(...ofRounds)] as const;
    const inMs = (what: string, some: readonly Heard[], way: keyof Heard) => {
      const sorted = some.map((one) => one[way]).sort((a, b) => a - b);
      const shown = [sorted[0]!, sorted.at(-1)!] as const;
      return { what, reference: null, figure: p99(some, way), unit: "ms" as const, spread: shown, bar: null };
    };
    return [
      {
        what: `p99 until an emergency's target is told of, among ${among}`,
        reference: "the same while they are silent",
        figure: p99(heard.noisy, "target") / p99(heard.silent, "target"),
        unit: "x",
        spread,
        bar: { atMost: 2 },
      },
      inMs("p99 of the same, while they are silent", heard.silent, "target"),
      inMs("p99 of the same, among the noise", heard.noisy, "target"),
      inMs("p99 until its webhook is told, among the noise", heard.noisy, "webhook"),
    ];
  },
};

async function amongNoise(house: BurningHouse): Promise<readonly Heard[]> {
  const { ecosystem } = house;
  await ecosystem.makeNoise(noise);
  await ecosystem.untilChanged((await ecosystem.changes()) + others);
  const before = { changes: await ecosystem.changes(), atMs: performance.now() };
  const heard = await burn(house, firesInRound);
  const usual = (others * (performance.now() - before.atMs)) / everydayMs;
  const times = ((await ecosystem.changes()) - before.changes) / usual;
  if (times < noise / 2) throw new Error(`the noise was ${times.toFixed(0)} times the usual, not ${noise}`);
  return heard;
}

async function burn(house: BurningHouse, times: number): Promise<readonly Heard[]> {
  const heard: Heard[] = [];
  for (let i = 0; i < times; i++) heard.push(await house.burn(patienceMs));
  return heard;
}

function p99(heard: readonly Heard[], way: keyof Heard): number {
  const sorted = heard.map((one) => one[way]).sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.99) - 1]!;
}
