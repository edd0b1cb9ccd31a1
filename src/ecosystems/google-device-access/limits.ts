/** At most `calls` calls within `perMs` milliseconds. */
export interface RateLimit {
  readonly calls: number;
  readonly perMs: number;
}

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

export const googleLimits: GoogleLimits = {
  lists: [{ calls: 5, perMs: minuteMs }],
  commands: [{ calls: 10, perMs: minuteMs }],
  thermostat: [
    { calls: 5, perMs: minuteMs },
    { calls: 100, perMs: 60 * minuteMs },
  ],
};
