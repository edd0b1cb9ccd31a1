import type { Dice } from "../dice.ts";

/** Texts that break parsers, pages and databases. */
const texts: readonly (() => unknown)[] = [
  () => "",
  () => "x".repeat(20_000),
  () => "half a pair \ud83d",
  () => "NUL \u0000, BEL \u0007",
  () => "\u202egnirts\u202c",
  () => "<script>alert(1)</script>'; DROP TABLE things; --",
  () => "__proto__",
  () => ({ toString: "no function", length: -1 }),
  () => [[[[["deep"]]]]],
  () => null,
  () => 42,
];

const numbers: readonly unknown[] = [-1, 256, 1e308, -1e308, 5e-324, 2 ** 53, "12", "", null, true, [], {}];

const domains = ["light", "light", "light", "switch", "fan", "climate", "binary_sensor", "sensor"] as const;

/** More entities than a home may have things. */
const mostEntities = 600;

/** The entities of a hostile instance: always others, in any number, with any values. */
export class HostileEntities {
  readonly #dice: Dice;
  #first = 1;
  #last = 20;

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  grow(): void {
    this.#last += this.#dice.between(20, 200);
    this.#first = Math.max(this.#first, this.#last - mostEntities);
  }

  shrink(): void {
    this.#first = this.#last - this.#dice.between(0, 20);
  }

  get ids(): string[] {
    return Array.from({ length: this.#last - this.#first + 1 }, (_, index) => idOf(this.#first + index));
  }

  some(count: number): string[] {
    return Array.from({ length: count }, () => idOf(this.#dice.between(this.#first, this.#last)));
  }

  /** Entities that the node has not subscribed to. */
  strangers(count: number): string[] {
    return Array.from({ length: count }, () => idOf(this.#last + this.#dice.between(1, 1_000_000)));
  }

  /** `isOdd`: ids collide, and texts are any. */
  registry(isOdd: boolean): readonly unknown[] {
    return this.ids.flatMap((entity_id): readonly unknown[] => {
      const entry = { id: `r.${entity_id}`, entity_id };
      if (!isOdd || this.#dice.chance(0.7)) return [entry];
      return this.#dice.pick([
        [entry, entry],
        [{ ...entry, id: "r.same" }],
        [{ ...entry, name: this.text(), original_name: this.text(), area_id: this.text() }],
        [{ ...entry, device_id: "d1", platform: this.text() }],
        [{ ...entry, entity_id: this.text(), id: this.text() }],
        [this.text(), []],
      ]);
    });
  }

  states(isOdd: boolean): readonly unknown[] {
    return this.ids.map((entity_id) => {
      const { s: state, a: attributes } = this.state(entity_id, isOdd);
      return { entity_id, state, attributes };
    });
  }

  state(entityId: string, isOdd: boolean): { readonly s: unknown; readonly a: object } {
    const deviceClass = entityId.startsWith("binary_sensor") ? "smoke" : "temperature";
    const a = {
      device_class: deviceClass,
      brightness: this.#dice.between(0, 255),
      temperature: 20,
      current_humidity: 50,
    };
    const climate = { min_temp: 5, max_temp: 30, hvac_modes: ["heat", "off"], supported_color_modes: ["brightness"] };
    const s = this.#dice.pick(entityId.startsWith("climate") ? ["heat", "off"] : ["on", "off"]);
    if (!isOdd) return { s, a: { ...a, ...climate } };
    const names = ["brightness", "temperature", "current_temperature", "min_temp", "max_temp", "percentage"];
    const odd = Object.fromEntries(names.map((name) => [name, this.#dice.pick(numbers)]));
    return { s: this.text(), a: { ...a, ...climate, ...odd, friendly_name: this.text(), hvac_modes: this.text() } };
  }

  /** A level alone. */
  level(): object {
    return { "+": { a: { brightness: this.#dice.between(0, 255) } } };
  }

  /** As many bytes as an entity may take. */
  heavy(): object {
    const list = Array.from({ length: 64 }, (_, index) => `${index}`.padEnd(64, "m"));
    const lists = { hvac_modes: list, fan_modes: list, preset_modes: list, supported_color_modes: list };
    return { s: "on", a: { ...lists, friendly_name: "f".repeat(255) } };
  }

  text(): unknown {
    return this.#dice.pick(texts)();
  }
}

function idOf(number: number): string {
  return `${domains[number % domains.length]}.h${number}`;
}
