import { Failure } from "../outcome.ts";
import type { RowContext } from "../row-context.ts";
import { summaryOf } from "./answer-summary.ts";
import type { Answered, Json } from "./deployment.ts";

export interface Shown {
  readonly value: Json;
  readonly updateTime: number;
}

/** How a device is shown: what it is, whether it is fresh, and its attributes. */
export interface ShownDevice {
  readonly presenceInfo: Json;
  readonly stale: Json;
  readonly attributes: Readonly<Record<string, Shown | undefined>>;
}

export function federate(context: RowContext, method: "POST" | "PUT"): Promise<Answered> {
  const { found, input } = context;
  return adaptor(context, method, { anEcosystemName: input.ecosystem, anAccessToken: found.account!.token });
}

/** Whether the user has a link, without touching it. */
export async function isLinked(context: RowContext): Promise<boolean> {
  const { status } = await adaptor(context, "GET", { anEcosystemName: context.input.ecosystem });
  return status === 200;
}

export function unlink(context: RowContext): Promise<Answered> {
  return adaptor(context, "DELETE", { anEcosystemName: context.input.ecosystem });
}

/** A call of the adaptor; the secToken stands in the body where one may. */
function adaptor({ deployment, found }: RowContext, method: string, fields: Readonly<Record<string, string>>) {
  const headers = { authorization: `Bearer ${found.secToken}` };
  const path = "/adaptor/federatedtokens";
  if (method === "GET" || method === "DELETE")
    return deployment.call(`${path}?${new URLSearchParams(fields)}`, { method, headers });
  return deployment.call(path, { method, headers, body: new URLSearchParams(fields) });
}

export async function largeStrings({ deployment, found }: RowContext): Promise<Json> {
  const query = new URLSearchParams({ id: String(found.linkedId) });
  const headers = { authorization: `Bearer ${found.secToken}` };
  const answer = await deployment.call(`/adaptor/largestrings?${query}`, { headers });
  if (answer.status === 200 && answer.json?.labels && answer.json?.identifiers) return answer.json;
  throw new Failure({
    seen: `The index map (largestrings) was ${summaryOf(answer)}, not labels and identifiers.`,
    side: "service",
    next: "Look for the call in the service's log; without the map no client can tell which index is which home.",
  });
}

export async function device(
  { deployment, found }: RowContext,
  deviceId: number,
  names: readonly string[] = [],
): Promise<ShownDevice> {
  const query = new URLSearchParams(names.map((name) => ["attribute", name]));
  const answer = await deployment.v3(
    found.tokens!.accessToken,
    `devices/${deviceId}${query.size > 0 ? `?${query}` : ""}`,
  );
  if (answer.status === 200 && answer.json?.attributes) return answer.json;
  throw new Failure({
    seen: `GET /v3/devices/${deviceId} was ${summaryOf(answer)}, not a device with attributes.`,
    side: "service",
    next: "Look for the answer's request id in the service's log.",
  });
}

export function linked(context: RowContext, names: readonly string[] = []): Promise<ShownDevice> {
  return device(context, context.found.linkedId!, names);
}

export async function write({ deployment, found }: RowContext, deviceId: number, values: object): Promise<Answered> {
  return deployment.v3(found.tokens!.accessToken, `devices/${deviceId}`, "PUT", values);
}

/** The attribute names of a thermostat, by its place in the map. */
export const thermostatNames = (x: string, y: number) => (what: string) =>
  `d.structures[${x}].d.thermostats[${y}].${what}`;

const mostThermostats = 20;

/** Where a thermostat stands: its structure's index from the map, its own from the attribute that holds its id. */
export async function placeOf(context: RowContext, thermostatId: string) {
  const { identifiers } = await largeStrings(context);
  const x = String(identifiers[thermostatId]?.[0] ?? "");
  const { attributes } = await linked(context);
  for (let y = 1; y <= mostThermostats; y++) {
    if (attributes[thermostatNames(x, y)("device_id")]?.value === thermostatId) return { x, y };
  }
  throw new Failure({
    seen: `No thermostat of the virtual device has the ecosystem's id ${thermostatId}.`,
    side: "service",
    next: "Compare the index map (largestrings) with the ecosystem's document; GET federatedtokens shows the link's oddities.",
  });
}

/** The thermostats of the simulated home, and its one structure. */
export async function homeOf({ simulator, found }: RowContext) {
  const { devices, structures } = await simulator!.document(found.account!.id);
  const [structureId = ""] = Object.keys(structures ?? {});
  const thermostats = Object.values(devices?.thermostats ?? {}) as Json[];
  return {
    structureId,
    structure: structures?.[structureId],
    thermostats,
    alarms: Object.values(devices?.smoke_co_alarms ?? {}) as Json[],
  };
}
