import { compare, isOfThings, type RetainedLine } from "../store/retained-log.ts";
import type { CommittedTransaction, DeliveryAttempt, Interval, Position, StoredRow } from "./history.ts";
import { demand, Violation } from "./violation.ts";

interface Webhook {
  readonly id: string;
  readonly userId: number;
  readonly deviceIds: readonly number[];
  readonly from: Position;
  removedSeq: number;
}

/** A message that a webhook must get. */
interface Message {
  readonly webhook: Webhook;
  readonly line: RetainedLine;
  isAccepted: boolean;
}

/**
 * A webhook gets every event since it was created, at least once, with one id, and in order for each device: a message
 * arrives only when all earlier ones were accepted. Events of removed devices may be left out.
 */
export function checkDeliveries(
  attempts: readonly DeliveryAttempt[],
  history: readonly CommittedTransaction[],
  log: readonly RetainedLine[],
): void {
  const queues = queuesOf(history, log);
  const messages = new Map<string, readonly [queue: readonly Message[], index: number]>();
  for (const queue of queues)
    for (const [index, message] of queue.entries()) messages.set(idOf(message), [queue, index]);
  for (const { messageId, body, arrivedSeq, isAccepted } of arrived(attempts)) {
    const [queue, index] = messages.get(messageId) ?? [];
    if (!queue || index === undefined) throw new Violation(`a webhook got ${messageId}, which belongs to no log entry`);
    const message = queue[index]!;
    for (const earlier of queue.slice(0, index)) {
      demand(
        earlier.isAccepted || earlier.line.removedSeq <= arrivedSeq,
        () => `${messageId} reached its receiver before ${idOf(earlier)} was accepted`,
      );
    }
    demandSame(message, body);
    if (isAccepted) message.isAccepted = true;
  }
  const lost = lostOf(queues);
  demand(!lost, () => `no receiver ever took ${lost && idOf(lost)}: ${lost?.line.body}`);
}

/** For a removed device only the message about its removal may wait; for a removed webhook none. */
export function checkLeftDeliveries(
  deliveries: readonly StoredRow[],
  history: readonly CommittedTransaction[],
  log: readonly RetainedLine[],
): void {
  const kept = new Set(
    queuesOf(history, log).flatMap((queue) =>
      queue.flatMap((message) =>
        message.line.isOfRemoved || message.webhook.removedSeq < Number.POSITIVE_INFINITY ? [] : [idOf(message)],
      ),
    ),
  );
  for (const { messageId, state } of deliveries) {
    demand(kept.has(messageId as string), () => `${messageId} is still ${state}, though what it tells of was removed`);
  }
}

/** The first message that has not been delivered yet. */
export function undelivered(
  attempts: readonly DeliveryAttempt[],
  history: readonly CommittedTransaction[],
  log: readonly RetainedLine[],
): string | undefined {
  const queues = queuesOf(history, log);
  const accepted = new Set(arrived(attempts).flatMap(({ messageId, isAccepted }) => (isAccepted ? [messageId] : [])));
  for (const queue of queues) for (const message of queue) message.isAccepted = accepted.has(idOf(message));
  const lost = lostOf(queues);
  return lost && `${idOf(lost)} was not accepted yet`;
}

/** With right clocks no two nodes send the same message at once. A frozen node cannot end a delivery that it began. */
export function checkClaims(
  attempts: readonly DeliveryAttempt[],
  frozen: readonly (Interval & { readonly node: string })[],
): void {
  const wasStill = ({ node, sentMs, endedMs }: DeliveryAttempt) =>
    frozen.some((stretch) => stretch.node === node && stretch.fromMs <= endedMs && stretch.toMs > sentMs);
  for (const [messageId, same] of Map.groupBy(attempts, (attempt) => attempt.messageId)) {
    const moving = same.filter((attempt) => !wasStill(attempt));
    moving.forEach((attempt, index) => {
      const both = moving.slice(0, index).find(({ endedMs }) => endedMs > attempt.sentMs);
      demand(
        !both,
        () => `${attempt.node} sends ${messageId} at ${attempt.sentMs}, which ${both?.node} is just sending`,
      );
    });
  }
}

function arrived(attempts: readonly DeliveryAttempt[]) {
  const inOrder = attempts.flatMap((attempt) =>
    attempt.arrivedSeq === undefined
      ? []
      : [{ ...attempt, arrivedSeq: attempt.arrivedSeq, arrivalNumber: attempt.arrivalNumber ?? 0 }],
  );
  return inOrder.sort((a, b) => a.arrivalNumber - b.arrivalNumber);
}

function queuesOf(history: readonly CommittedTransaction[], log: readonly RetainedLine[]): Message[][] {
  const webhooks = new Map<string, Webhook>();
  for (const { seq, writes } of history) {
    for (const { table, key, after } of writes) {
      if (table !== "webhooks") continue;
      if (after)
        webhooks.set(key as string, { ...(after as unknown as Webhook), removedSeq: Number.POSITIVE_INFINITY });
      else webhooks.get(key as string)!.removedSeq = seq;
    }
  }
  return [...webhooks.values()].flatMap((webhook) => {
    const { userId, deviceIds, from } = webhook;
    const matching = log.filter((line) => {
      const isAsked = deviceIds.length === 0 || deviceIds.includes(line.deviceId);
      // These webhooks did not ask for things.
      return !isOfThings(line) && line.userId === userId && isAsked && compare(line.position, from) > 0;
    });
    const messages = matching.map((line): Message => ({ webhook, line, isAccepted: false }));
    return [...Map.groupBy(messages, ({ line }) => line.deviceId).values()];
  });
}

function lostOf(queues: readonly (readonly Message[])[]): Message | undefined {
  const never = Number.POSITIVE_INFINITY;
  for (const queue of queues) {
    const lost = queue.find(
      ({ webhook, line, isAccepted }) => !isAccepted && webhook.removedSeq === never && line.removedSeq === never,
    );
    if (lost) return lost;
  }
  return undefined;
}

function idOf({ webhook, line: { position } }: Message): string {
  return `msg_${webhook.id}_simulated.${position.transaction.toString(36)}-${position.id.toString(36)}`;
}

function demandSame({ line }: Message, body: string): void {
  const { type, data } = JSON.parse(body) as {
    type: string;
    data: { deviceId: number; updateTime?: number; time?: number; attributes?: Record<string, unknown> };
  };
  const { deviceId, kind, timeMs } = line;
  const changes =
    kind === "attribute" ? (JSON.parse(line.body) as { changes: [unknown, string | null][] }).changes : [];
  const values = Object.values(data.attributes ?? {}).map(String);
  demand(
    type === kind &&
      data.deviceId === deviceId &&
      (data.updateTime ?? data.time) === timeMs &&
      values.join() === changes.map(([, value]) => String(value)).join(),
    () => `a webhook got ${body}; what happened is ${kind} ${line.body}`,
  );
}
