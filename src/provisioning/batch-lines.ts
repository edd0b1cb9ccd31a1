import type { GroupTables } from "../devices/commit-group.ts";
import { BreezewayError, StoreUnavailable } from "../model/errors.ts";

/** A line of a batch that can be carried out, or the reason why it can't even be read. */
export type Line<Task> = Task | BreezewayError;

/** What became of one line of a batch. */
export type LineOutcome<Done> = { readonly done: Done } | { readonly refused: BreezewayError };

/** Failures of the store and defects concern the whole group, so they are thrown. */
export async function outcomeOf<Done>(act: () => Promise<Done>): Promise<LineOutcome<Done>> {
  try {
    return { done: await act() };
  } catch (error) {
    if (!(error instanceof BreezewayError) || error instanceof StoreUnavailable) throw error;
    return { refused: error };
  }
}

/** Stores the answers of a group in its transaction; called last. */
export type KeepGroup<Done> = (tx: GroupTables, outcomes: readonly LineOutcome<Done>[]) => Promise<void>;
