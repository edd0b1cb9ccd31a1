import type { PastThingChange, Thing, ThingKind } from "./things.ts";
import type { CallOptions } from "./transport.ts";
import type { V3 } from "./v3.ts";

/** Which things to list; all filters must match. */
export interface ThingFilter extends CallOptions {
  readonly kind?: ThingKind | undefined;
  readonly room?: string | undefined;
  /** Only things of this ecosystem. */
  readonly source?: string | undefined;
}

/** Which fields of a thing to read. */
export interface ThingQuestion extends CallOptions {
  /** Only fields that changed after this time (milliseconds); traits without such a field are left out. */
  readonly since?: number | undefined;
}

/** Which part of a thing's past to read. */
export interface ThingHistoryQuestion extends CallOptions {
  /** Only changes of these fields, each written as trait and field, such as `smoke.state`. */
  readonly fields?: readonly string[] | undefined;
  /** From this time on (milliseconds), included. */
  readonly from?: number | undefined;
  /** Up to this time, excluded. */
  readonly to?: number | undefined;
}

/** The service leaves out times that it does not have. */
type ThingBody = Omit<Thing, "confirmedTime" | "goneTime"> & Partial<Pick<Thing, "confirmedTime" | "goneTime">>;

/** @internal */
export async function* listThings(v3: V3, filter: ThingFilter): AsyncGenerator<Thing, void> {
  const { kind, room, source, signal } = filter;
  const request = { query: { kind, room, source }, signal };
  for await (const page of v3.pages<ThingBody>("/things", "things", request)) yield* page.map(thingOf);
}

/** @internal */
export async function readThing(v3: V3, thingId: string, { since, signal }: ThingQuestion): Promise<Thing> {
  return thingOf(
    await v3.call<ThingBody>("GET", `/things/${encodeURIComponent(thingId)}`, { query: { since }, signal }),
  );
}

/** @internal */
export async function* readThingHistory(
  v3: V3,
  thingId: string,
  { fields, from, to, signal }: ThingHistoryQuestion,
): AsyncGenerator<PastThingChange, void> {
  const path = `/things/${encodeURIComponent(thingId)}/history`;
  const request = { query: { field: fields, from, to }, signal };
  for await (const page of v3.pages<PastThingChange>(path, "changes", request)) yield* page;
}

function thingOf({ confirmedTime, goneTime, traits, ...thing }: ThingBody): Thing {
  return { ...thing, confirmedTime, goneTime, traits };
}
