import type { Traits } from "./catalogue.ts";

export const thingKinds = ["thermostat", "alarm", "fan", "light", "switch", "sensor", "home", "other"] as const;

export type ThingKind = (typeof thingKinds)[number];

/** A device that a person would point at, as its connector read it. */
export interface Thing {
  readonly kind: ThingKind;
  /** The structure that it belongs to; null when the ecosystem names none. */
  readonly structureId: string | null;
  readonly name: string | null;
  readonly room: string | null;
  readonly maker: string | null;
  readonly model: string | null;
  /**
   * For an ecosystem that shows the devices of others: the integration that the device came through, null when not told.
   * Left out by all other ecosystems.
   */
  readonly integration?: string | null;
  /** Whether the ecosystem reaches it; null when not told. */
  readonly isOnline: boolean | null;
  readonly traits: Traits;
}
