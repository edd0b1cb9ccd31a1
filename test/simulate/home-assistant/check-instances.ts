import type { CommittedTransaction, StoredRow } from "../checks/history.ts";
import { demand } from "../checks/violation.ts";
import { storedState } from "../store/stored-state.ts";
import type { InstanceEntity } from "./entities.ts";

/** A link to an instance at one time, and what it should show. */
export interface InstanceStanding {
  readonly userId: number;
  readonly entities: readonly Readonly<InstanceEntity>[];
  readonly link: StoredRow | undefined;
  readonly things: readonly StoredRow[];
  readonly followers: readonly { readonly node: string; readonly isLive: boolean }[];
}

type StoredState = Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>>;

/** The targets of the simulated instances only rise: a stored target that falls shows an older state again. */
export function checkInstances(history: readonly CommittedTransaction[], hostileUsers: readonly number[]): void {
  const targets = new Map<string, number>();
  for (const { seq, writes } of history) {
    for (const { table, key, after } of writes) {
      if (!table.startsWith("things/") || !String(key).includes("_home_thermostat/")) continue;
      if (hostileUsers.some((userId) => String(key).startsWith(`t_${userId}_`))) continue;
      const thing = `${table} ${key}`;
      if (!after) targets.delete(thing);
      const { thermostat } = after ? storedState(after.state as string) : {};
      const [target = null] = thermostat?.targetCelsius ?? [];
      if (typeof target !== "number") continue;
      const before = targets.get(thing) ?? 0;
      demand(
        target >= before,
        () => `transaction ${seq}: the target of ${thing} goes back from ${before} to ${target}`,
      );
      targets.set(thing, target);
    }
  }
}

/** The first difference between an instance and its link. */
export function instanceBehind(standings: readonly InstanceStanding[]): string | undefined {
  for (const standing of standings) {
    const missing = missingOf(standing);
    if (missing !== undefined) return `Home Assistant user ${standing.userId}: ${missing}`;
  }
  return undefined;
}

function missingOf({ entities, link, things, followers }: InstanceStanding): string | undefined {
  if (!link) return "there is no link";
  if (followers.length !== 1) return `${followers.length} nodes follow`;
  if (link.state !== "live" || !followers[0]!.isLive) return `link ${link.state}: ${link.reason}`;
  if (link.blindness !== null) return "live and blind";
  const expected = new Map(
    entities.map((entity) => [`${entity.kind === "climate" ? "thermostat" : "alarm"}/${entity.id}`, entity]),
  );
  for (const { key, goneMs, state } of things) {
    const name = key as string;
    if (name.startsWith("structure/")) continue;
    const entity = expected.get(name);
    expected.delete(name);
    if ((goneMs === null) !== (entity !== undefined)) return `${name} is gone in the instance or in the store`;
    const wrong = entity && wrongField(entity, storedState(state as string));
    if (wrong !== undefined) return `${name}: ${wrong}`;
  }
  const [missing] = expected.keys();
  return missing === undefined ? undefined : `${missing} is not stored`;
}

/** What is not available keeps its last values, which are not compared. */
function wrongField({ kind, state, target, isAvailable }: InstanceEntity, stored: StoredState): string | undefined {
  const trait = kind === "climate" ? "thermostat" : "smoke";
  const values =
    kind === "climate" ? { mode: state, targetCelsius: target } : { state: state === "on" ? "alarm" : "clear" };
  const expected = { available: isAvailable, ...(isAvailable && values) };
  for (const [field, value] of Object.entries(expected)) {
    const [shown] = stored[trait]?.[field] ?? [];
    // An entity that was never available has no trait.
    if (shown !== value && (isAvailable || stored[trait])) return `${field} is ${shown}, the instance says ${value}`;
  }
  return undefined;
}
