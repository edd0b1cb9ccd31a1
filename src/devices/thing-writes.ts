import type { TraitName } from "../home/catalogue.ts";
import type { ReportedThing } from "../home/reported-things.ts";
import {
  descriptorOf,
  type FieldChange,
  fieldChanges,
  type ThingState,
  withFieldChanges,
} from "../home/stored-thing.ts";
import type { ThingPrint } from "../home/thing-print.ts";
import {
  decodeDescriptor,
  decodeState,
  encodeDescriptor,
  encodeState,
  hasForm,
  isSameDescriptor,
  type ThingForm,
} from "../home/thing-text.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { Transaction } from "../store/seam.ts";
import type { ThingRow } from "../store/tables/things.ts";

/** What a snapshot says of one thing of a link: how it is, or that it is gone. */
export type ThingWrite =
  | {
      readonly thingId: string;
      readonly source: string;
      readonly reported: ReportedThing;
      readonly print: ThingPrint;
    }
  | { readonly thingId: string; readonly isGone: true };

/** One thing in a commit. `changed`: what it is called, or what it can do, has changed too. */
export interface ThingChange {
  readonly thingId: string;
  readonly what: "added" | "changed" | "state" | "gone";
  readonly fields: readonly FieldChange[];
}

/** How long gone things are kept, and how many of each link. */
const goneKept = { forMs: 90 * 24 * 3_600_000, count: 500 };

/** Writes of things that change something, compared with the stored rows under the lock. */
export interface PreparedThings {
  readonly changes: readonly ThingChange[];
  /** Writes the rows; each changed field gets the commit's time. */
  write(timeMs: number): Promise<void>;
}

export async function prepareThings(
  tx: Pick<Transaction, "things">,
  userId: UserId,
  deviceId: DeviceId,
  writes: readonly ThingWrite[],
  form: ThingForm,
): Promise<PreparedThings> {
  const rows = await tx.things.some(
    userId,
    writes.map(({ thingId }) => thingId),
  );
  const stored = new Map(rows.map((row) => [row.thingId, row]));
  const changes: ThingChange[] = [];
  const puts: ((timeMs: number) => Promise<void>)[] = [];
  const gone: string[] = [];
  for (const write of writes) {
    const row = stored.get(write.thingId);
    if ("isGone" in write) {
      if (!row || row.goneMs !== null) continue;
      gone.push(write.thingId);
      changes.push({ thingId: write.thingId, what: "gone", fields: [] });
      continue;
    }
    const next = comparedWith(row, write, form);
    if (!next) continue;
    changes.push(next.change);
    // The thing may have come from another link, and its descriptor may have the other form.
    const isInPlace =
      next.change.what === "state" &&
      row?.deviceId === deviceId &&
      row.source === write.source &&
      hasForm(row.descriptor, form);
    puts.push((timeMs) => {
      const after: ThingRow = { ...next.row(timeMs), userId, deviceId };
      return isInPlace ? tx.things.setState(after) : tx.things.put(after);
    });
  }
  return {
    changes,
    async write(timeMs) {
      for (const put of puts) await put(timeMs);
      if (gone.length === 0) return;
      await tx.things.setGone(userId, gone, timeMs);
      await tx.things.trimGone(userId, deviceId, timeMs - goneKept.forMs, goneKept.count);
    },
  };
}

/** The change and the row after it; undefined when the row holds all of it already. */
function comparedWith(
  row: ThingRow | undefined,
  write: Exclude<ThingWrite, { readonly isGone: true }>,
  form: ThingForm,
) {
  const { thingId, source, reported, print } = write;
  const isBack = !row || row.goneMs !== null;
  // The print covers the descriptor: an equal print saves its encoding in the most frequent write, that of samples.
  const isPrintSame = !isBack && row.print === print.hash && hasForm(row.descriptor, form);
  const state: ThingState = row ? decodeState(row.state) : {};
  // What a trait can do is kept while the report lacks the trait.
  const before = isBack || hasAllTraits(reported, state) ? undefined : decodeDescriptor(row);
  const described = isPrintSame ? row : encodeDescriptor(descriptorOf(reported, before), form);
  const fields = fieldChanges(state, reported, isBack);
  const isDescribedAnew = !row || !isSameDescriptor(row, described);
  if (!isBack && !isDescribedAnew && fields.length === 0) return undefined;
  const change: ThingChange = { thingId, what: isBack ? "added" : isDescribedAnew ? "changed" : "state", fields };
  return {
    change,
    row: (timeMs: number) => ({
      thingId,
      key: reported.key,
      source,
      kind: described.kind,
      room: described.room,
      descriptor: described.descriptor,
      state: encodeState(withFieldChanges(state, fields, timeMs), form),
      print: print.hash,
      samples: JSON.stringify(print.samples),
      goneMs: null,
    }),
  };
}

/** Whether the report has each trait that is stored. */
function hasAllTraits({ thing }: ReportedThing, stored: ThingState): boolean {
  for (const trait in stored) if (!thing.traits[trait as TraitName]) return false;
  return true;
}
