import type { CommittedTransaction, Interval, StoredRow } from "../checks/history.ts";
import { demand } from "../checks/violation.ts";
import type { Arrived } from "./makers.ts";

export interface AssistantRecord {
  readonly arrived: readonly Arrived[];
  readonly frozen: readonly (Interval & { readonly node: string })[];
}

/** A message may be on its way this long after the link has ended. */
const onItsWayMs = 16_000;
/** The longest transaction that may have begun before the link has ended. */
const transactionMs = 5_000;

/** What assistants were told: never an older state, nothing after the end of a link, and each alarm is marked once. */
export function checkAssistants({ arrived, frozen }: AssistantRecord, history: readonly CommittedTransaction[]): void {
  checkOrder(arrived);
  checkEnds(arrived, frozen, history);
  checkRises(history);
}

function checkOrder(arrived: readonly Arrived[]): void {
  const newest = new Map<string, number>();
  for (const message of arrived) {
    if (!message.isTaken) continue;
    for (const [what, version] of versionsIn(message)) {
      const name = `${message.outletId} of user ${message.userId}: ${what}`;
      const before = newest.get(name) ?? 0;
      demand(version >= before, () => `${name} of ${version} was told after that of ${before}`);
      newest.set(name, version);
    }
  }
}

function versionsIn({ versions, body }: Arrived): readonly (readonly [what: string, version: number])[] {
  const { event, context } = body as AlexaBody;
  if (!event) return [...versions];
  const properties = [...(context?.properties ?? []), ...(event.payload.change?.properties ?? [])];
  const builtMs = Math.max(...properties.filter(isHealth).map(sampledMs));
  // After the clock was set back, a change from before has the time of the message: no time is in the future.
  return properties
    .filter((one) => !isHealth(one) && sampledMs(one) !== builtMs)
    .map((one) => [`${event.endpoint?.endpointId} ${one.namespace} ${one.instance} ${one.name}`, sampledMs(one)]);
}

/** Sampled when the message is built. */
function isHealth({ namespace }: Property): boolean {
  return namespace === "Alexa.EndpointHealth";
}

function sampledMs({ timeOfSample }: Property): number {
  return Date.parse(timeOfSample);
}

interface AlexaBody {
  readonly event?: {
    readonly endpoint?: { readonly endpointId: string };
    readonly payload: { readonly change?: { readonly properties: readonly Property[] } };
  };
  readonly context?: { readonly properties: readonly Property[] };
}

interface Property {
  readonly namespace: string;
  readonly name: string;
  readonly instance?: string;
  readonly value: unknown;
  readonly timeOfSample: string;
}

function checkEnds(
  arrived: readonly Arrived[],
  frozen: AssistantRecord["frozen"],
  history: readonly CommittedTransaction[],
): void {
  /** When the access has ended, by user and outlet; undefined while there is one. */
  const endedMs = new Map<string, number>();
  const waiting = arrived.toSorted((a, b) => a.sentSeq - b.sentSeq);
  let next = 0;
  for (const { seq, atMs, writes } of [...history, { seq: Number.POSITIVE_INFINITY, atMs: 0, writes: [] }]) {
    for (; next < waiting.length && waiting[next]!.sentSeq <= seq; next++) {
      const { userId, outletId, sentMs, node } = waiting[next]!;
      const atEndMs = endedMs.get(`${userId} ${outletId}`);
      if (atEndMs === undefined || frozen.some((one) => one.node === node && one.toMs >= atEndMs)) continue;
      demand(
        sentMs - atEndMs <= onItsWayMs,
        () => `${outletId} is told about user ${userId} ${sentMs - atEndMs} ms after the end of the access`,
      );
    }
    for (const { table, key, before, after } of writes) {
      if (table === "assistant access" && after) endedMs.delete(String(key));
      if (table === "assistant access" && !after && before) endedMs.set(String(key), atMs);
      const since = table === "assistant grants" ? endedMs.get(String(key)) : undefined;
      if (since === undefined || !isClaimed(before, after)) continue;
      demand(atMs - since <= transactionMs, () => `the assistant ${key} is claimed ${atMs - since} ms after its end`);
    }
  }
}

function isClaimed(before: StoredRow | null, after: StoredRow | null): boolean {
  return after !== null && Number(after.claimedUntilMs) > Number(before?.claimedUntilMs ?? 0);
}

/** An alarm becomes part of a mark once, over all nodes, until its grant is made anew. */
function checkRises(history: readonly CommittedTransaction[]): void {
  const marked = new Set<string>();
  for (const { writes } of history) {
    for (const { table, key, before, after } of writes) {
      if (table !== "assistant marks") continue;
      const known = new Set(risesIn(before));
      for (const rise of risesIn(after)) {
        if (known.has(rise)) continue;
        const name = `${key}: ${rise}`;
        demand(!marked.has(name), () => `an alarm is to be told twice to ${name}`);
        marked.add(name);
      }
    }
  }
}

function risesIn(row: StoredRow | null): readonly string[] {
  return ((row?.rises ?? []) as readonly object[]).map((rise) => JSON.stringify(rise));
}
