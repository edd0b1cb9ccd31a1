import { claim, type Finding } from "../outcome.ts";
import type { RowContext } from "../row-context.ts";
import { summaryOf } from "./answer-summary.ts";
import { homeOf, largeStrings, linked, placeOf, thermostatNames, write } from "./linked-account.ts";

/** What a client makes of its request, as section 7 of the interface tells it to. */
export type FanWord =
  | { readonly is: "running" | "pending" | "no error" }
  | { readonly is: "error"; readonly text: string };

export interface FanRequest {
  readonly value: string;
  readonly sentMs: number;
  check(): Promise<FanWord>;
}

/** The first thermostat's fan, with somebody home: what is needed to run it. */
export async function readyFan(context: RowContext) {
  const { simulator, found } = context;
  const { structureId, thermostats } = await homeOf(context);
  const { x, y } = await placeOf(context, thermostats[0].device_id);
  const nameOf = thermostatNames(x, y);
  const away = `d.structures[${(await largeStrings(context)).identifiers[structureId][0]}].a.away`;
  const presence = async (scene: string, word: string) => {
    await simulator!.play(found.account!.id, { scene });
    await context.eventually(
      async () => {
        const { attributes, stale } = await linked(context, [away]);
        return attributes[away]?.value === word && stale === false ? true : undefined;
      },
      () => ({ seen: `${away} did not become ${word} within 10 seconds.`, ...linkAtFault }),
    );
  };
  return {
    presence,
    requestName: nameOf("fan_timer_active.requestWrite"),
    ask: (value: string) => ask(context, nameOf("fan_timer_active"), value),
  };
}

const linkAtFault = {
  side: "service",
  next: "GET federatedtokens shows how the link stands; the simulator's page shows what it sent.",
} as const satisfies Omit<Finding, "seen">;

async function ask(context: RowContext, name: string, value: string): Promise<FanRequest> {
  const request = `${name}.requestWrite`;
  // By the service's clock: how far ours is from it was seen when times were checked.
  const sentMs = Date.now() + Math.min(0, context.found.clockAheadMs ?? 0);
  const answer = await write(context, context.found.linkedId!, { [request]: value });
  claim(answer.status === 200, () => ({
    seen: `Writing ${value} to requestWrite was ${summaryOf(answer)}, not OK.`,
    side: "service",
    next: "The write itself is always taken; look for the answer's request id in the service's log.",
  }));
  return {
    value,
    sentMs,
    async check() {
      const { attributes } = await linked(context, [name, request]);
      const active = attributes[name];
      if (active?.value === value && active.updateTime > sentMs) return { is: "running" };
      const text = attributes[request]?.value ?? null;
      if (text === null) return { is: "no error" };
      return String(text).startsWith("error:") ? { is: "error", text: String(text) } : { is: "pending" };
    },
  };
}

/** The same once it is settled: the fan does what was asked, or there is an error. */
export function settled(context: RowContext, request: FanRequest): Promise<FanWord> {
  return context.eventually(
    async () => {
      const word = await request.check();
      return word.is === "running" || word.is === "error" ? word : undefined;
    },
    () => ({
      seen: `10 seconds after ${request.value} was written to requestWrite, neither fan_timer_active nor an error text came.`,
      side: "service",
      next: "GET /v3/devices/{id}/commands shows the request's receipt; the simulator's page shows what it heard.",
    }),
  );
}

export interface FanError {
  readonly message: string;
  readonly badValue: string;
  readonly timestamp: string;
}

/** `error: <errormsg>, <badvalue>, <timestamp>`: the message may hold commas, the other two follow the last ones. */
export function readFanError(text: string): FanError | undefined {
  const [, message = "", badValue = "", timestamp = ""] = /^error: (.+), ([^,]+), ([^,]+)$/.exec(text) ?? [];
  if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\.\d{3}Z?$/.test(timestamp)) return undefined;
  return { message, badValue, timestamp };
}
