import type { Sql } from "../sql.ts";
import type { LogPosition } from "./log-position.ts";

export type DatedPosition = LogPosition & { readonly timeMs: number };

/**
 * Whether entries are old although all their times are still to come, because the clock was ahead for so many commits.
 * Their age is that of the first entry behind them whose time has come. A binary search finds it, so that few reads are
 * enough among millions of entries.
 */
export async function areOldThoughAhead(
  sql: Sql,
  entries: readonly DatedPosition[],
  beforeMs: number,
): Promise<boolean> {
  const last = entries.at(-1);
  const nowMs = await sql.nowMs();
  if (!last || entries.some(({ timeMs }) => timeMs <= nowMs)) return false;
  const isShared = sql.dialect === "postgres";
  const [place, from] = isShared ? [last.transaction, "xid >= $1::text::xid8"] : [last.id, "id >= $1"];
  const next = `SELECT time_ms AS "timeMs" FROM log WHERE ${from} ORDER BY ${isShared ? "xid, id" : "id"} LIMIT 1`;
  /** The time of the next entry at that distance; undefined behind the end. */
  const timeAt = async (distance: number) => {
    const start = place + distance;
    const [entry] = await sql.all<{ timeMs: number }>(next, [isShared ? String(start) : start]);
    return entry?.timeMs;
  };
  const isAhead = (timeMs: number | undefined) => timeMs !== undefined && timeMs > nowMs;
  let far = 1;
  let timeMs = await timeAt(far);
  while (isAhead(timeMs)) {
    far *= 2;
    timeMs = await timeAt(far);
  }
  for (let near = Math.floor(far / 2); far - near > 1; ) {
    const middle = Math.floor((near + far) / 2);
    const found = await timeAt(middle);
    if (isAhead(found)) near = middle;
    else [far, timeMs] = [middle, found];
  }
  return timeMs !== undefined && timeMs < beforeMs;
}
