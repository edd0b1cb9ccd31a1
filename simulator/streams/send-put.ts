import type { Account } from "../accounts/account.ts";
import type { ActivityLog } from "../activity-log.ts";
import type { FrameShape } from "../faults/decide-frame.ts";
import type { Faults } from "../faults/faults.ts";
import { malformedPut, outOfSizePut } from "./malformed-frames.ts";
import type { Stream } from "./stream.ts";

export type Sending = "sent" | "withheld" | "cut";

/** Sends a put to one stream, changed by the active faults. */
export function sendPut(
  { faults, log }: { readonly faults: Faults; readonly log: ActivityLog },
  { accountId, revision }: Account,
  path: string,
  stream: Stream,
  text: string,
  usual: Buffer,
): Sending {
  const decision = faults.forFrame({ accountId, event: "put", streamSerial: stream.serial });
  if (decision === undefined) {
    stream.send([usual]);
    return "sent";
  }
  const { plan, applied } = decision;
  for (const { id, effect } of applied) log.record("fault", accountId, { id, fault: effect.fault, path, revision });
  if (plan.act === "withhold") return "withheld";
  if (plan.act === "cut") {
    stream.destroyAfter([usual.subarray(0, Math.ceil(usual.length / 2))]);
    return "cut";
  }
  stream.send(piecesOf(plan.shape, text, usual), plan.delayMs);
  return "sent";
}

function piecesOf(shape: FrameShape, text: string, usual: Buffer): readonly Buffer[] {
  switch (shape.as) {
    case "usual":
      return [usual];
    case "duplicate":
      return [usual, usual];
    case "malformed":
      return malformedPut(shape.kind, text);
    case "out-of-size":
      return [outOfSizePut(shape.megabytes, text)];
  }
}
