/**
 * A partial fake: it has only the members that the core uses in the simulation. When the core uses another member, the
 * run fails and names it, instead of continuing with undefined.
 */
export function standIn<Whole extends object>(what: string, part: Partial<Whole>): Whole {
  return new Proxy(part, {
    get(present, name) {
      if (name in present) return present[name as keyof Whole];
      throw new Error(`The simulation has no stand-in for ${what}.${String(name)} yet (test/simulate).`);
    },
  }) as Whole;
}
