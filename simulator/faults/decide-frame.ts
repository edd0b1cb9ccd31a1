import type { MalformedKind } from "../streams/malformed-frames.ts";
import { slowest } from "./decide-request.ts";
import { concerns, type Fault } from "./fault.ts";

/** What a fault can depend on in an event for one stream. */
export interface FrameInfo {
  readonly accountId: string;
  readonly event: "put" | "keep-alive";
  readonly streamSerial: number;
}

export type FramePlan =
  | { readonly act: "send"; readonly shape: FrameShape; readonly delayMs: number }
  | { readonly act: "withhold" }
  | { readonly act: "cut" };

export type FrameShape =
  | { readonly as: "usual" }
  | { readonly as: "duplicate" }
  | { readonly as: "malformed"; readonly kind: MalformedKind }
  | { readonly as: "out-of-size"; readonly megabytes: number };

export interface FrameDecision {
  readonly plan: FramePlan;
  readonly applied: readonly Fault[];
}

/** Decides which faults apply to one event: silence first, then the oldest fault that changes it, then the delay. */
export function decideFrame(faults: readonly Fault[], frame: FrameInfo): FrameDecision {
  const matching = faults.filter((fault) => concerns(fault, frame.accountId));
  const silent = matching.find(({ effect, serial }) => {
    // Streams that were opened after the fault began are not silenced.
    if (effect.fault === "silence") return frame.streamSerial < serial;
    return effect.fault === "keep-alives-only" && frame.event === "put";
  });
  if (silent !== undefined) return { plan: { act: "withhold" }, applied: [silent] };
  const slow = slowest(matching);
  const [delayMs, slowed] = slow === undefined ? [0, []] : [slow.ms, [slow.by]];
  if (frame.event === "put") {
    for (const fault of matching) {
      if (fault.effect.fault === "cut-mid-frame") return { plan: { act: "cut" }, applied: [fault] };
      const shape = shapeFor(fault);
      if (shape !== undefined) return { plan: { act: "send", shape, delayMs }, applied: [...slowed, fault] };
    }
  }
  return { plan: { act: "send", shape: { as: "usual" }, delayMs }, applied: slowed };
}

function shapeFor({ effect }: Fault): FrameShape | undefined {
  if (effect.fault === "malformed") return { as: "malformed", kind: effect.kind };
  if (effect.fault === "duplicate") return { as: "duplicate" };
  if (effect.fault === "out-of-size") return { as: "out-of-size", megabytes: effect.megabytes };
  return undefined;
}
