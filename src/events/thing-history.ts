import type { AttributeBody, LoggedThing, ThingBody } from "../devices/log-entries.ts";
import { type PastCommitParts, pastCommits } from "../devices/past-commits.ts";
import type { ReadThing } from "../devices/read-thing.ts";
import type { Cause } from "../model/cause.ts";
import type { TimeRange } from "../store/tables/log.ts";
import { type HistoryPage, pageOf } from "./history.ts";

export interface ThingHistoryQuery extends TimeRange {
  /** Each as `trait.field`; an empty list means all changes of the thing, also that it was added or is gone. */
  readonly fields: readonly string[];
}

export interface PastThingChange extends Pick<LoggedThing, "what"> {
  readonly fields: NonNullable<LoggedThing["fields"]>;
  readonly updateTimeMs: number;
  readonly cause: Cause | undefined;
}

/** Changes of a thing in a time range, as far as the log still has them. */
export function thingHistoryOf(
  parts: PastCommitParts,
  { userId, deviceId, thingId }: Pick<ReadThing, "userId" | "deviceId" | "thingId">,
  { fields: fieldNames, fromMs, toMs }: ThingHistoryQuery,
): Promise<HistoryPage<PastThingChange>> {
  const commits = pastCommits(parts, userId, deviceId, { fromMs, toMs }, "attributes and things");
  // Most commits are about other things: their bodies need not be parsed.
  const mention = JSON.stringify(thingId);
  return pageOf(commits, ({ body, timeMs }) => {
    if (!body.includes(mention)) return [];
    const { cause, things = [] } = JSON.parse(body) as Partial<AttributeBody> & Partial<ThingBody>;
    const found = things.find((thing) => thing.thingId === thingId);
    const fields = Object.entries(found?.fields ?? {}).filter(
      ([name]) => fieldNames.length === 0 || fieldNames.includes(name),
    );
    if (!found || (fieldNames.length > 0 && fields.length === 0)) return [];
    const change = { what: found.what, fields: Object.fromEntries(fields), updateTimeMs: timeMs, cause };
    return [{ change, characters: JSON.stringify(change).length }];
  });
}
