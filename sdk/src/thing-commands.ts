/** The modes of a thermostat. */
export type ThermostatMode = "off" | "heat" | "cool" | "heatCool" | "auto" | "eco" | "dry" | "fanOnly";

/** The parameters of a command that has none. */
export type NoParams = Readonly<Record<string, never>>;

/** The commands of each trait with their parameters, as the trait catalogue describes them. Temperatures are Celsius. */
export interface ThingCommands {
  readonly onOff: { readonly set: { readonly on: boolean } };
  /** A brightness of 0 switches the light off. */
  readonly brightness: {
    readonly set: { readonly percent: number };
    readonly adjust: { readonly deltaPercent: number };
  };
  readonly thermostat: {
    readonly setMode: { readonly mode: ThermostatMode };
    /** One of the capability `presets`. */
    readonly setPreset: { readonly preset: string };
    readonly setTarget: ThermostatTarget;
    readonly adjustTarget: { readonly deltaCelsius: number };
  };
  readonly fanTimer: { readonly start: { readonly minutes?: number | undefined }; readonly stop: NoParams };
  readonly fan: {
    /** One of the capability `modes`. */
    readonly setMode: { readonly mode: string };
    readonly setPercent: { readonly percent: number };
    readonly adjustPercent: { readonly deltaPercent: number };
  };
}

/**
 * The target of the mode in force, or one or both targets of a thermostat with two. For a thermostat with two targets,
 * `celsius` is the middle between them.
 */
export type ThermostatTarget =
  | { readonly celsius: number }
  | { readonly heatCelsius: number; readonly coolCelsius?: number | undefined }
  | { readonly coolCelsius: number; readonly heatCelsius?: number | undefined };

/** A trait that has commands. */
export type CommandedTrait = keyof ThingCommands;

/** The state of a command. See `CommandReceipt`. */
export type CommandState = "queued" | "sending" | "accepted" | "confirmed" | "contradicted" | "rejected" | "expired";

/**
 * The service's receipt of a command to a thing.
 *
 * - `queued`: stored by the service. `sending`: sent, at most once. `accepted`: the ecosystem has accepted it.
 * - `confirmed`: the thing shows the result. `contradicted`: the thing kept showing another state.
 * - `rejected`: refused by the service or by the ecosystem; `error` says why.
 * - `expired`: it was not sent in time (`notSent`), or nobody knows whether it was carried out (`noAnswer`).
 */
export interface CommandReceipt {
  /** Begins with `c`; for a fan request that was written to the attribute `requestWrite`, with `f`. */
  readonly commandId: string;
  readonly thingId: string;
  readonly trait: string;
  readonly command: string;
  readonly params: Readonly<Record<string, string | number | boolean>>;
  readonly state: CommandState;
  readonly error: CommandError | null;
  /** Times are in milliseconds since 1970, and null for what has not happened. */
  readonly requestedTime: number;
  readonly sentTime: number | null;
  /** When the outcome was stored. With `accepted`: it will stay unknown whether the thing shows the result. */
  readonly settledTime: number | null;
  /** The alert that sent the command; left out for a command of a client. */
  readonly cause?: { readonly by: "alert"; readonly alert: number };
}

/**
 * Why a command was not carried out. `text` explains it to people; `words` are the ecosystem's own words, if it refused
 * the command. A newer service may have further codes.
 */
export type CommandError = { readonly text: string; readonly words?: string } & (
  | { readonly code: PlainCommandErrorCode }
  | { readonly code: "notSupported"; readonly command: string; readonly reason: string }
  | { readonly code: "badValue"; readonly parameter: string; readonly problem: string }
  | {
      readonly code: "outOfRange";
      readonly parameter: string;
      /** Null: there is no limit on this side. */
      readonly min: number | null;
      readonly max: number | null;
      readonly unit: "celsius" | "percent" | "minutes" | "milliseconds";
    }
  /** `gap`: the least distance between the two targets, in °C. */
  | { readonly code: "rangeTooClose"; readonly gap: number }
  /** `modes`: the modes that the thing has. */
  | { readonly code: "modeNotSupported"; readonly mode: string; readonly modes: readonly string[] }
  /** `mode`: the mode in force. */
  | { readonly code: "notInMode"; readonly mode: string }
  | { readonly code: "rateLimited"; readonly retryAfterMs: number }
);

/** The codes that have no further members. */
export type PlainCommandErrorCode =
  | "unknownThing"
  | "offline"
  | "stale"
  | "notHome"
  | "needsReauth"
  | "busy"
  | "forbidden"
  | "refused"
  | "noAnswer"
  | "notSent"
  | "superseded";
