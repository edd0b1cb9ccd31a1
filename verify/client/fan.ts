import { ensure, type Finding } from "../outcome.ts";
import type { RowContext } from "../row-context.ts";
import { summaryOf } from "./answer-summary.ts";
import { homeOf, indexesOf, largeStrings, linkedDevice, thermostatNames, writeAttributes } from "./linked-account.ts";

/** The state of a fan request as a client derives it (docs/interface.md, Fan requests). */
export type FanState =
  | { readonly is: "running" | "pending" | "no error" }
  | { readonly is: "error"; readonly text: string };

export interface FanRequest {
  readonly value: string;
  readonly sentMs: number;
  check(): Promise<FanState>;
}

/** Functions that set the presence at home and request the fan of the first thermostat. */
export async function readyFan(context: RowContext) {
  const { simulator, shared } = context;
  const { structureId, thermostats } = await homeOf(context);
  const { x, y } = await indexesOf(context, thermostats[0].device_id);
  const nameOf = thermostatNames(x, y);
  const away = `d.structures[${(await largeStrings(context)).identifiers[structureId][0]}].a.away`;
  const setPresence = async (scene: string, state: string) => {
    await simulator!.play(shared.account!.id, { scene });
    await context.eventually(
      async () => {
        const { attributes, stale } = await linkedDevice(context, [away]);
        return attributes[away]?.value === state && stale === false ? true : undefined;
      },
      () => ({ seen: `${away} did not become ${state} within 10 seconds.`, ...linkFailed }),
    );
  };
  return {
    setPresence,
    requestName: nameOf("fan_timer_active.requestWrite"),
    requestFan: (value: string) => requestFan(context, nameOf("fan_timer_active"), value),
  };
}

const linkFailed = {
  side: "service",
  next: "GET federatedtokens shows the state of the link; the simulator's page shows what it sent.",
} as const satisfies Omit<Finding, "seen">;

async function requestFan(context: RowContext, name: string, value: string): Promise<FanRequest> {
  const request = `${name}.requestWrite`;
  // Converted to the service's clock, with the difference that the row `times` measured.
  const sentMs = Date.now() + Math.min(0, context.shared.clockAheadMs ?? 0);
  const answer = await writeAttributes(context, context.shared.linkedId!, { [request]: value });
  ensure(answer.status === 200, () => ({
    seen: `Writing ${value} to requestWrite was ${summaryOf(answer)}, not OK.`,
    side: "service",
    next: "The service accepts every such write; look for the answer's request id in the service's log.",
  }));
  return {
    value,
    sentMs,
    async check() {
      const { attributes } = await linkedDevice(context, [name, request]);
      const active = attributes[name];
      if (active?.value === value && active.updateTime > sentMs) return { is: "running" };
      const text = attributes[request]?.value ?? null;
      if (text === null) return { is: "no error" };
      return String(text).startsWith("error:") ? { is: "error", text: String(text) } : { is: "pending" };
    },
  };
}

/** Waits until the fan has the requested state or the request has an error. */
export function settled(context: RowContext, request: FanRequest): Promise<FanState> {
  return context.eventually(
    async () => {
      const state = await request.check();
      return state.is === "running" || state.is === "error" ? state : undefined;
    },
    () => ({
      seen: `10 seconds after ${request.value} was written to requestWrite, neither fan_timer_active nor an error text came.`,
      side: "service",
      next: "GET /v3/devices/{id}/commands shows the request's receipt; the simulator's page shows the commands that it received.",
    }),
  );
}

export interface FanError {
  readonly message: string;
  readonly badValue: string;
  readonly timestamp: string;
}

/** Parses `error: <errormsg>, <badvalue>, <timestamp>`. Only the message may contain commas. */
export function readFanError(text: string): FanError | undefined {
  const [, message = "", badValue = "", timestamp = ""] = /^error: (.+), ([^,]+), ([^,]+)$/.exec(text) ?? [];
  if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\.\d{3}Z?$/.test(timestamp)) return undefined;
  return { message, badValue, timestamp };
}
