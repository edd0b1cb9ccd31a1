import type { MalformedKind } from "../streams/malformed-frames.ts";
import { slowest } from "./decide-request.ts";
import { concerns, type Fault } from "./fault.ts";

/** An event on its way to one stream, as faults see it. */
export interface FacedFrame {
  readonly accountId: string;
  readonly event: "put" | "keep-alive";
  readonly streamSerial: number;
}

/** What becomes of an event. */
export type FramePlan =
  | { readonly act: "send"; readonly shape: FrameShape; readonly delayMs: number }
  | { readonly act: "withhold" }
  | { readonly act: "cut" };

export type FrameShape =
  | { readonly as: "usual" }
  | { readonly as: "twice" }
  | { readonly as: "malformed"; readonly kind: MalformedKind }
  | { readonly as: "swollen"; readonly megabytes: number };

export interface FrameDecision {
  readonly plan: FramePlan;
  readonly struck: readonly Fault[];
}

/** Decides on one event: silence before everything else, then the oldest fault that changes it, then the delay. */
export function decideFrame(faults: readonly Fault[], frame: FacedFrame): FrameDecision {
  const suited = faults.filter((fault) => concerns(fault, frame.accountId));
  const silent = suited.find(({ trouble, serial }) => {
    if (trouble.fault === "silence") return frame.streamSerial < serial;
    return trouble.fault === "keep-alives-only" && frame.event === "put";
  });
  if (silent !== undefined) return { plan: { act: "withhold" }, struck: [silent] };
  const slow = slowest(suited);
  const [delayMs, slowed] = slow === undefined ? [0, []] : [slow.ms, [slow.by]];
  if (frame.event === "put") {
    for (const fault of suited) {
      if (fault.trouble.fault === "cut-mid-frame") return { plan: { act: "cut" }, struck: [fault] };
      const shape = shapeFor(fault);
      if (shape !== undefined) return { plan: { act: "send", shape, delayMs }, struck: [...slowed, fault] };
    }
  }
  return { plan: { act: "send", shape: { as: "usual" }, delayMs }, struck: slowed };
}

function shapeFor({ trouble }: Fault): FrameShape | undefined {
  if (trouble.fault === "malformed") return { as: "malformed", kind: trouble.kind };
  if (trouble.fault === "duplicate") return { as: "twice" };
  if (trouble.fault === "out-of-size") return { as: "swollen", megabytes: trouble.megabytes };
  return undefined;
}
