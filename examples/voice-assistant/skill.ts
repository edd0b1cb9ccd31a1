import { type Breezeway, NotFound } from "@breezeway/sdk";
import { attributesOf, type Endpoint, endpointsOf } from "./endpoints.ts";

/** A request of the assistant for a user who has linked an account. */
export type Directive =
  | { readonly name: "Discover" }
  | { readonly name: "ReportState" | "TurnOnFan" | "TurnOffFan"; readonly endpointId: string };

export type Reply =
  | { readonly name: "Discovered"; readonly endpoints: readonly Endpoint[] }
  | { readonly name: "State"; readonly isFresh: true; readonly state: State }
  | { readonly name: "Unknown"; readonly asOf: string | null; readonly lastState: State; readonly speech: string }
  | { readonly name: "Done"; readonly speech: string }
  | { readonly name: "Sorry"; readonly speech: string };

type State = Readonly<Record<string, unknown>>;

/** An assistant gives up after some seconds. The skill must say before then that the state is unknown. */
const answerWithinMs = 4_000;

/** Answers a directive. A failure is a sentence that the assistant can speak. */
export async function answer(breezeway: Breezeway, directive: Directive): Promise<Reply> {
  if (directive.name === "Discover") return { name: "Discovered", endpoints: await endpointsOf(breezeway) };
  const target = attributesOf(directive.endpointId);
  if (!target) return { name: "Sorry", speech: "I don't know that device." };
  try {
    if (directive.name === "ReportState") return await stateOf(breezeway, target);
    return await runFan(breezeway, target, directive.name === "TurnOnFan");
  } catch (error) {
    if (error instanceof NotFound) return { name: "Sorry", speech: "That device is no longer there." };
    throw error;
  }
}

/** A stale state is reported as unknown, with its time: an hour-old "ok" of a smoke alarm may be wrong now. */
async function stateOf(breezeway: Breezeway, { deviceId, prefix }: Target): Promise<Reply> {
  const signal = AbortSignal.timeout(answerWithinMs);
  const { attributes, stale, confirmedTime } = await breezeway.getDevice(deviceId, { signal });
  const own = Object.entries(attributes).filter(([name]) => name.startsWith(`${prefix}.`));
  if (own.length === 0) return { name: "Sorry", speech: "That device is no longer there." };
  const state = Object.fromEntries(own.map(([name, { value }]) => [name.slice(prefix.length + 1), value]));
  if (stale === false) return { name: "State", isFresh: true, state };
  const asOf = confirmedTime === undefined ? null : new Date(confirmedTime).toISOString();
  return { name: "Unknown", asOf, lastState: state, speech: "I can't see your home just now." };
}

async function runFan(breezeway: Breezeway, { deviceId, prefix }: Target, on: boolean): Promise<Reply> {
  const outcome = await breezeway.runFan(deviceId, prefix, { on });
  if (outcome.done) return { name: "Done", speech: on ? "The fan is running." : "The fan is off." };
  if (outcome.error.isUnanswered) {
    return { name: "Sorry", speech: "Your home didn't answer. I don't know whether the fan has changed." };
  }
  return { name: "Sorry", speech: `That didn't work: ${outcome.error.message}.` };
}

type Target = NonNullable<ReturnType<typeof attributesOf>>;
