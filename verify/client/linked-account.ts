import { Failure } from "../outcome.ts";
import type { RowContext } from "../row-context.ts";
import { summaryOf } from "./answer-summary.ts";
import type { Answer, Json } from "./deployment.ts";

export interface AttributeBody {
  readonly value: Json;
  readonly updateTime: number;
}

/** The body of `GET /v3/devices/{id}`. */
export interface DeviceBody {
  readonly presenceInfo: Json;
  readonly stale: Json;
  readonly attributes: Readonly<Record<string, AttributeBody | undefined>>;
}

export function federate(context: RowContext, method: "POST" | "PUT"): Promise<Answer> {
  const { shared, input } = context;
  return adaptor(context, method, { anEcosystemName: input.ecosystem, anAccessToken: shared.account!.token });
}

/** Whether the user has a link. Only reads. Fails when the answer tells neither. */
export async function isLinked(context: RowContext): Promise<boolean> {
  const answer = await adaptor(context, "GET", { anEcosystemName: context.input.ecosystem });
  if (answer.status === 200) return true;
  const { errorCode } = answer.json ?? {};
  if (answer.status === 404 || errorCode === notLinked || errorCode === unknownEcosystem) return false;
  throw new Failure({
    seen: `GET federatedtokens was ${summaryOf(answer)}, which does not tell whether the user is linked.`,
    side: "service",
    next: "Look for the call in the service's log. verify changes no link of which it does not know whether it exists.",
  });
}

const notLinked = 119;
const unknownEcosystem = 120;

export function deleteLink(context: RowContext): Promise<Answer> {
  return adaptor(context, "DELETE", { anEcosystemName: context.input.ecosystem });
}

/** Calls the adaptor with the user's secToken. */
function adaptor({ deployment, shared }: RowContext, method: string, fields: Readonly<Record<string, string>>) {
  const headers = { authorization: `Bearer ${shared.secToken}` };
  const path = "/adaptor/federatedtokens";
  if (method === "GET" || method === "DELETE")
    return deployment.call(`${path}?${new URLSearchParams(fields)}`, { method, headers });
  return deployment.call(path, { method, headers, body: new URLSearchParams(fields) });
}

export async function largeStrings({ deployment, shared }: RowContext): Promise<Json> {
  const query = new URLSearchParams({ id: String(shared.linkedId) });
  const headers = { authorization: `Bearer ${shared.secToken}` };
  const answer = await deployment.call(`/adaptor/largestrings?${query}`, { headers });
  if (answer.status === 200 && answer.json?.labels && answer.json?.identifiers) return answer.json;
  throw new Failure({
    seen: `The index map (largestrings) was ${summaryOf(answer)}, not labels and identifiers.`,
    side: "service",
    next: "Look for the call in the service's log; without the map no client knows which index belongs to which home.",
  });
}

export async function device(
  { deployment, shared }: RowContext,
  deviceId: number,
  names: readonly string[] = [],
): Promise<DeviceBody> {
  const query = new URLSearchParams(names.map((name) => ["attribute", name]));
  const answer = await deployment.v3(
    shared.tokens!.accessToken,
    `devices/${deviceId}${query.size > 0 ? `?${query}` : ""}`,
  );
  if (answer.status === 200 && answer.json?.attributes) return answer.json;
  throw new Failure({
    seen: `GET /v3/devices/${deviceId} was ${summaryOf(answer)}, not a device with attributes.`,
    side: "service",
    next: "Look for the answer's request id in the service's log.",
  });
}

export function linkedDevice(context: RowContext, names: readonly string[] = []): Promise<DeviceBody> {
  return device(context, context.shared.linkedId!, names);
}

export async function writeAttributes(
  { deployment, shared }: RowContext,
  deviceId: number,
  values: object,
): Promise<Answer> {
  return deployment.v3(shared.tokens!.accessToken, `devices/${deviceId}`, "PUT", values);
}

/** The attribute names of the thermostat with the indexes X and Y. */
export const thermostatNames = (x: string, y: number) => (what: string) =>
  `d.structures[${x}].d.thermostats[${y}].${what}`;

const maxThermostats = 20;

/** The indexes X and Y of a thermostat: X from the index map, Y from the attribute that holds its id. */
export async function indexesOf(context: RowContext, thermostatId: string) {
  const { identifiers } = await largeStrings(context);
  const x = String(identifiers[thermostatId]?.[0] ?? "");
  const { attributes } = await linkedDevice(context);
  for (let y = 1; y <= maxThermostats; y++) {
    if (attributes[thermostatNames(x, y)("device_id")]?.value === thermostatId) return { x, y };
  }
  throw new Failure({
    seen: `No thermostat of the virtual device has the ecosystem's id ${thermostatId}.`,
    side: "service",
    next: "Compare the index map (largestrings) with the ecosystem's document; GET federatedtokens shows the link's oddities.",
  });
}

/** The only structure of the simulated home, and its devices. */
export async function homeOf({ simulator, shared }: RowContext) {
  const { devices, structures } = await simulator!.document(shared.account!.id);
  const [structureId = ""] = Object.keys(structures ?? {});
  const thermostats = Object.values(devices?.thermostats ?? {}) as Json[];
  return {
    structureId,
    structure: structures?.[structureId],
    thermostats,
    alarms: Object.values(devices?.smoke_co_alarms ?? {}) as Json[],
  };
}
