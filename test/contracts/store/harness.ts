import type { OpenStore } from "../../../src/store/seam.ts";

/** What the contract needs from each database beside the store itself. */
export interface StoreHarness {
  readonly kind: "sqlite" | "postgres";
  /** A database that nobody has used yet. */
  fresh(options?: PlaceOptions): Promise<Place>;
}

export interface PlaceOptions {
  readonly onSmallDisk?: boolean;
  /** Not even the tables are there. */
  readonly isEmpty?: boolean;
}

/** One database, and all that a test can do to it from outside. */
export interface Place {
  /** Opens the store as a node does. A second time while it is open is a second node, where the database takes one. */
  open(): Promise<OpenStore>;
  /** An administrator's hand, past the store. */
  sql<Row>(text: string): Promise<Row[]>;
  /** The store's clock runs on from there. */
  jumpClock(byMs: number): Promise<void>;
  /** From now on a transaction that keeps the setting `poison` fails at its COMMIT and not before. */
  poisonCommits(): Promise<void>;
  readonly disk: Disk;
  /** What another process needs to open the same store. */
  readonly address: string;
  /** Closes what is open and leaves nothing behind. */
  remove(): Promise<void>;
}

export interface Disk {
  fill(): Promise<void>;
  empty(): Promise<void>;
}

/** Runs a case on a store of its own. */
export async function onStore(
  harness: StoreHarness,
  test: (store: OpenStore, place: Place) => Promise<void>,
): Promise<void> {
  await onPlace(harness, async (place) => test(await place.open(), place));
}

export async function onPlace(
  harness: StoreHarness,
  test: (place: Place) => Promise<void>,
  options?: PlaceOptions,
): Promise<void> {
  const place = await harness.fresh(options);
  try {
    await test(place);
  } finally {
    await place.remove();
  }
}
