import type { Store, Transaction } from "../../store/seam.ts";
import type { AssistantGrantRow } from "../../store/tables/assistant-grants.ts";
import type { AssistantMark } from "../../store/tables/assistant-marks.ts";
import type { CurrentThing } from "../current-thing.ts";
import { allThings } from "../grants.ts";
import type { AssistantHomes } from "../homes.ts";
import type { Outlet } from "../outlets.ts";
import { groupingMs } from "./changes.ts";

export interface ChoiceParts {
  readonly homes: AssistantHomes;
  readonly store: Store<Pick<Transaction, "assistantMarks">>;
}

/** Which devices an assistant that takes a limited number is offered. */
export interface Choice {
  /** The ids of the devices beyond the limit; null before the first report. */
  readonly omittedIds: readonly string[] | null;
  /** The devices of which the assistant hears nothing: also those that were beyond the limit when they were removed. */
  readonly omitted: ReadonlySet<string>;
  /** Things with devices that are offered from now on, or no longer. */
  readonly shifted: readonly CurrentThing[];
}

/**
 * Devices come and go with things that are added, described otherwise or removed, and never with a state. Things that are
 * to be added a little later may be added now.
 */
export function isChoiceDue({ omitted }: AssistantGrantRow, marks: readonly AssistantMark[], nowMs: number): boolean {
  const isListed = ({ thingId, syncMs }: AssistantMark) =>
    thingId === allThings || (syncMs !== null && syncMs <= nowMs + groupingMs);
  return omitted === null || marks.some(isListed);
}

/** The choice that was stored with an earlier report. */
export function keptChoice({ omitted }: AssistantGrantRow): Choice {
  return { omittedIds: omitted, omitted: new Set(omitted), shifted: [] };
}

/**
 * Chooses the offered devices among the present things and the things whose removal is not yet due: the assistant still
 * has the devices of both. A gone thing is never offered anew. Before the first report the assistant has the devices that
 * discovery named.
 */
export async function choiceOf(
  { homes, store }: ChoiceParts,
  grant: AssistantGrantRow,
  present: readonly CurrentThing[],
  nowMs: number,
  { assistant, settings }: Pick<Outlet, "assistant" | "settings">,
): Promise<Choice> {
  const before = new Set(grant.omitted);
  const known = new Set(present.map(({ thingId }) => thingId));
  const leavingIds = await store.read((tx) => tx.assistantMarks.leaving(grant, nowMs));
  const found = await homes.some(
    grant.userId,
    leavingIds.filter((thingId) => !known.has(thingId)),
  );
  const leaving = [...found.values()].filter(({ thingId }) => !before.has(thingId));
  const unseen = [...found.values()].filter(({ thingId }) => before.has(thingId));
  const things = [...present, ...leaving];
  const { offered, omitted } = assistant.choose!(things, settings);
  const omittedIds = [...omitted, ...assistant.choose!(unseen, settings).offered].map(({ id }) => id);
  if (grant.omitted === null) return { omittedIds, omitted: new Set(omittedIds), shifted: [] };
  const coming = offered.filter(({ id, thingId }) => before.has(id) && known.has(thingId));
  const going = omitted.filter(({ id }) => !before.has(id));
  const shifted = new Set([...coming, ...going].map(({ thingId }) => thingId));
  const hidden = new Set([...before, ...omittedIds]);
  for (const { id } of coming) hidden.delete(id);
  return { omittedIds, omitted: hidden, shifted: things.filter(({ thingId }) => shifted.has(thingId)) };
}
