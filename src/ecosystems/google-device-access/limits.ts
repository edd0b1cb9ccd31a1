import type { RateLimit } from "../kit/call-window.ts";

/** The limits of Google, for one project and user. */
export interface GoogleLimits {
  /** Lists of devices and of structures together. */
  readonly lists: readonly RateLimit[];
  /** Commands to all devices of an account. */
  readonly commands: readonly RateLimit[];
  /** Commands to one thermostat. Google counts those of all projects. */
  readonly thermostat: readonly RateLimit[];
}

const minuteMs = 60_000;
/** Google counts a call when it arrives, which is later than when Breezeway counts it. */
const marginMs = 1_000;

export function withMargin(limits: readonly RateLimit[]): readonly RateLimit[] {
  return limits.map(({ calls, perMs }) => ({ calls, perMs: perMs + marginMs }));
}

export const googleLimits: GoogleLimits = {
  lists: [{ calls: 5, perMs: minuteMs }],
  commands: [{ calls: 10, perMs: minuteMs }],
  thermostat: [
    { calls: 5, perMs: minuteMs },
    { calls: 100, perMs: 60 * minuteMs },
  ],
};
