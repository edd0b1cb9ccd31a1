import assert from "node:assert/strict";
import type { Home, Listing } from "../../src/home/home.ts";
import type { Assignment, IndexMap, StructureSlot } from "../../src/virtual-device/index-map.ts";
import type { Slot } from "../../src/virtual-device/slots.ts";

/**
 * Checks that each assignment in a sequence keeps the rules of docs/interface.md. It doesn't compute the map a second
 * time: it compares before and after, and records which snapshot last showed each id.
 */
export class IndexChecker {
  #call = 0;
  /** Range and id → the last call in which the id was present. */
  readonly #lastPresent = new Map<string, number>();
  #lost: string[] = [];

  check(before: IndexMap, account: Home, { map: after, overLimit, evicted }: Assignment): void {
    this.#call++;
    this.#lost = [];
    const structuresThere = this.#structuresThere(before, account);
    const overStructures = this.#checkRange("X", before.structures, after.structures, structuresThere);
    assert.deepEqual(overLimit.structures, overStructures);

    after.structures.forEach((structure, index) => {
      if (structure?.id !== before.structures[index]?.id) this.#forget(`X${index + 1}-`);
    });
    const overDevices = { thermostats: 0, alarms: 0 };
    for (const range of ["thermostats", "alarms"] as const) {
      const everywhere = after.structures.flatMap((structure) => present(structure?.[range] ?? []));
      assert.equal(new Set(everywhere).size, everywhere.length, "a present id has two places");
      after.structures.forEach((structure, index) => {
        if (structure === null) return;
        const old = before.structures[index];
        const inherited = old?.id === structure.id ? old[range] : structure[range].map(() => null);
        const name = `X${index + 1}-${range}`;
        const there = this.#devicesThere(range, before, account, after, structure);
        overDevices[range] += this.#checkRange(name, inherited, structure[range], there).length;
      });
    }
    assert.deepEqual({ thermostats: overLimit.thermostats, alarms: overLimit.alarms }, overDevices);
    const reported = evicted.map((e) => {
      const range = e.kind === "structure" ? "X" : `X${e.x}-${e.kind}s`;
      return `${range}[${e.kind === "structure" ? e.x : e.y}]: ${e.oldId} → ${e.newId}`;
    });
    assert.deepEqual(reported.sort(), this.#lost.sort());
    this.#checkStep(before, after);
  }

  /** Checks the rules of a range, given the present ids; returns those without a slot. */
  #checkRange(
    name: string,
    before: readonly (Slot | null)[],
    after: readonly (Slot | null)[],
    there: ReadonlySet<string>,
  ): string[] {
    assert.equal(after.length, before.length);
    const holders = after.flatMap((slot) => (slot ? [slot.id] : []));
    assert.equal(new Set(holders).size, holders.length, "an id has two slots");
    assert.deepEqual(new Set(present(after)), new Set(holders.filter((id) => there.has(id))), `${name}: presence`);

    const fresh: string[] = [];
    before.forEach((old, index) => {
      const slot = after[index] ?? null;
      if (old === null) {
        if (slot) fresh.push(slot.id);
        return;
      }
      assert.ok(slot, `${name}: a given slot became never-used`);
      if (slot.id === old.id) return;
      this.#lost.push(`${name}[${index + 1}]: ${old.id} → ${slot.id}`);
      assert.ok(!after.includes(null), `${name}: ${old.id} lost its slot while others were never used`);
      assert.ok(!there.has(old.id), `${name}: a present id lost its slot`);
      assert.ok(there.has(slot.id), `${name}: an absent id got a slot`);
      for (const ghost of holders.filter((id) => !there.has(id))) {
        const message: string = `${name}: ${old.id} lost its slot before ${ghost}, which is absent longer`;
        assert.ok(this.#lastSeen(name, old.id) <= this.#lastSeen(name, ghost), message);
      }
    });
    assert.deepEqual(fresh, [...fresh].sort(), `${name}: never-used slots are taken in the order of ids`);
    const firstFree = after.indexOf(null);
    if (firstFree >= 0)
      assert.ok(
        after.slice(firstFree).every((slot) => slot === null),
        `${name}: not lowest first`,
      );

    const without = [...there].filter((id) => !holders.includes(id)).sort();
    if (without.length > 0) assert.equal(present(after).length, after.length, `${name}: a slot is free or a ghost's`);
    const newcomers = [...there].filter((id) => !before.some((slot) => slot?.id === id));
    const lastSeated = newcomers
      .filter((id) => holders.includes(id))
      .sort()
      .at(-1);
    if (lastSeated !== undefined)
      assert.ok(
        without.every((id) => id > lastSeated),
        `${name}: order of newcomers`,
      );
    for (const id of there) this.#lastPresent.set(`${name}/${id}`, this.#call);
    return without;
  }

  #structuresThere(before: IndexMap, { structures }: Home): Set<string> {
    const kept = structures.isWhole ? [] : present(before.structures);
    return new Set([...structures.byId.keys(), ...kept]);
  }

  #devicesThere(
    range: "thermostats" | "alarms",
    before: IndexMap,
    account: Home,
    after: IndexMap,
    home: StructureSlot,
  ): Set<string> {
    const listing: Listing<{ readonly structureId: string | null }> = account[range];
    const there = new Set<string>();
    if (home.absentSince !== null) return there;
    const isHome = (candidate: StructureSlot | null) => candidate?.id === home.id;
    const ids = new Set([...listing.byId.keys(), ...present(before.structures.find(isHome)?.[range] ?? [])]);
    for (const id of ids) {
      const sighting = listing.byId.get(id);
      const says = sighting?.isRead ? sighting.object.structureId : (sighting?.partial.structureId ?? null);
      const homeSighting = account.structures.byId.get(home.id);
      const namesAll = listing.isWhole && homeSighting?.isRead === true && homeSighting.object.listsDevices;
      const isWhere = this.#whereIsSaid(range, before, account, after, id, says);
      if (sighting === undefined ? !namesAll : isHome(isWhere)) there.add(id);
    }
    return there;
  }

  /**
   * Where an alarm belongs: a stray in an account with one structure is there; otherwise a stray without a slot is
   * nowhere.
   */
  #whereIsSaid(
    range: "thermostats" | "alarms",
    before: IndexMap,
    { structures }: Home,
    after: IndexMap,
    id: string,
    says: string | null,
  ): StructureSlot | null {
    const there = after.structures.filter((slot) => slot?.absentSince === null);
    const named = there.find((slot) => slot?.id === says);
    if (says !== null && (structures.isWhole || structures.byId.has(says) || named)) {
      const isStray = !structures.byId.has(says) && !named;
      return named ?? (isStray && range === "alarms" && there.length === 1 ? there[0]! : null);
    }
    const last = this.#lastHome(range, before, id);
    const isThere = there.some((slot) => slot?.id === last?.id);
    const only = range === "alarms" && structures.isWhole && there.length === 1 ? there[0]! : null;
    return isThere ? last : only;
  }

  #lastHome(range: "thermostats" | "alarms", before: IndexMap, id: string): StructureSlot | null {
    const homes = before.structures.map((home, index) => ({ home, name: `X${index + 1}-${range}` }));
    const remembered = homes.filter(({ name }) => this.#lastSeen(name, id) >= 0);
    const candidates = remembered.filter(({ home }) => home?.[range].some((slot) => slot?.id === id));
    candidates.sort((a, b) => this.#lastSeen(b.name, id) - this.#lastSeen(a.name, id));
    return candidates[0]?.home ?? null;
  }

  #lastSeen(range: string, id: string): number {
    return this.#lastPresent.get(`${range}/${id}`) ?? -1;
  }

  #forget(ranges: string): void {
    for (const key of this.#lastPresent.keys()) if (key.startsWith(ranges)) this.#lastPresent.delete(key);
  }

  #checkStep(before: IndexMap, after: IndexMap): void {
    const isSame = JSON.stringify(before.structures) === JSON.stringify(after.structures);
    if (isSame) assert.equal(after, before, "nothing changed, but the map is another");
    else assert.equal(after.step, before.step + 1);
  }
}

function present(slots: readonly (Slot | null)[]): string[] {
  return slots.flatMap((slot) => (slot && slot.absentSince === null ? [slot.id] : []));
}
