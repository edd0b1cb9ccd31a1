import type { Store, Transaction } from "../store/seam.ts";
import { comparePositions } from "../store/tables/log-position.ts";
import { type ResumePoint, readEventId, readFrom, resumePointOf } from "./event-id.ts";
import { heartbeatFrame, openingFrame, resyncFrame } from "./frames.ts";
import type { LogTables } from "./log-page.ts";

/** Where a stream begins, and its first bytes. */
export interface Beginning {
  readonly resumePoint: ResumePoint;
  readonly frames: string;
}

/** The beginning of a stream: after the client's last event, or at the present end of the log. */
export async function beginningAt(
  store: Store<LogTables & Pick<Transaction, "clock">>,
  lastEventId: string | undefined,
  heartbeatSeconds?: number,
): Promise<Beginning> {
  const sent = lastEventId === undefined ? undefined : readEventId(lastEventId);
  const { epoch, end, horizon, nowMs, isHeld } = await store.read(async (tx) => {
    const [epoch, end, horizon, nowMs, isHeld] = await Promise.all([
      tx.logEpoch.current(),
      tx.log.end(),
      tx.log.horizon(),
      tx.clock.nowMs(),
      sent !== undefined && sent.epoch === undefined && tx.log.holds(sent.position),
    ]);
    return { epoch, end, horizon, nowMs, isHeld };
  });
  const logEnd: ResumePoint = { epoch: epoch.name, position: end };
  const startAtEnd = (frame: string) => ({ resumePoint: logEnd, frames: openingFrame + frame });
  if (lastEventId === undefined) return startAtEnd(heartbeatFrame(logEnd, nowMs, heartbeatSeconds));
  const resumePoint = sent && resumePointOf(sent, { epoch, end, isHeld });
  if (!resumePoint) return startAtEnd(resyncFrame(logEnd, sent?.epoch === undefined ? "unknown_id" : "restored"));
  if (comparePositions(readFrom(resumePoint), horizon) < 0) return startAtEnd(resyncFrame(logEnd, "past_retention"));
  return { resumePoint, frames: openingFrame };
}
