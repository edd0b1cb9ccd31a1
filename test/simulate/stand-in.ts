/**
 * An object of which the simulation has only what the core uses there. As soon as the core uses more, the run ends and
 * says what is missing, instead of going on with something half true.
 */
export function standIn<Whole extends object>(what: string, part: Partial<Whole>): Whole {
  return new Proxy(part, {
    get(present, name) {
      if (name in present) return present[name as keyof Whole];
      throw new Error(`The simulation has no stand-in for ${what}.${String(name)} yet (test/simulate).`);
    },
  }) as Whole;
}
