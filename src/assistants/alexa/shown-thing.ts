import type { ReadThing } from "../../devices/read-thing.ts";

/** A thing with what is known about its freshness. */
export interface ShownThing {
  readonly thing: ReadThing;
  /** Nothing confirms that the state is current. */
  readonly isStale: boolean;
  /** When the ecosystem last confirmed the whole state; null for a thing of an own device. */
  readonly confirmedTimeMs: number | null;
}
