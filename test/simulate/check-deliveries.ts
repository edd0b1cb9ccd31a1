import type { CommittedTransaction, DeliveryAttempt, Position, StoredRow, Stretch } from "./history.ts";
import { compare, type ToldLine } from "./told-log.ts";
import { demand, Violation } from "./violation.ts";

interface Webhook {
  readonly id: string;
  readonly userId: number;
  readonly deviceIds: readonly number[];
  readonly from: Position;
  removedSeq: number;
}

/** Something that a webhook must be told. */
interface Message {
  readonly webhook: Webhook;
  readonly line: ToldLine;
  isTaken: boolean;
}

/**
 * Webhooks are told everything that happened since they were made, at least once, under one id, and in order for each
 * device: something new arrives only when all before it was taken. What was removed meanwhile may be left out.
 */
export function checkDeliveries(
  attempts: readonly DeliveryAttempt[],
  history: readonly CommittedTransaction[],
  log: readonly ToldLine[],
): void {
  const queues = queuesOf(history, log);
  const messages = new Map<string, readonly [queue: readonly Message[], place: number]>();
  for (const queue of queues)
    for (const [place, message] of queue.entries()) messages.set(idOf(message), [queue, place]);
  for (const { messageId, body, arrivedSeq, isTaken } of arrived(attempts)) {
    const [queue, place] = messages.get(messageId) ?? [];
    if (!queue || place === undefined) throw new Violation(`a webhook was told ${messageId}, which nothing stands for`);
    const message = queue[place]!;
    for (const earlier of queue.slice(0, place)) {
      demand(
        earlier.isTaken || earlier.line.removedSeq <= arrivedSeq,
        () => `${messageId} reached its receiver before ${idOf(earlier)} was taken`,
      );
    }
    demandSame(message, body);
    if (isTaken) message.isTaken = true;
  }
  const lost = lostOf(queues);
  demand(!lost, () => `no receiver ever took ${lost && idOf(lost)}: ${lost?.line.body}`);
}

/** Nothing is kept to be sent of a device that was removed, but that it was; nor for a webhook that was removed. */
export function checkLeftDeliveries(
  deliveries: readonly StoredRow[],
  history: readonly CommittedTransaction[],
  log: readonly ToldLine[],
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

/** What is missing until everything was delivered. */
export function undelivered(
  attempts: readonly DeliveryAttempt[],
  history: readonly CommittedTransaction[],
  log: readonly ToldLine[],
): string | undefined {
  const queues = queuesOf(history, log);
  const taken = new Set(arrived(attempts).flatMap(({ messageId, isTaken }) => (isTaken ? [messageId] : [])));
  for (const queue of queues) for (const message of queue) message.isTaken = taken.has(idOf(message));
  const lost = lostOf(queues);
  return lost && `${idOf(lost)} was not taken yet`;
}

/** Where clocks go right, nobody sends what another is just sending; a node that stands still can't end what it began. */
export function checkClaims(
  attempts: readonly DeliveryAttempt[],
  frozen: readonly (Stretch & { readonly node: string })[],
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
    attempt.arrivedSeq === undefined ? [] : [{ ...attempt, arrivedSeq: attempt.arrivedSeq, place: attempt.place ?? 0 }],
  );
  return inOrder.sort((a, b) => a.place - b.place);
}

function queuesOf(history: readonly CommittedTransaction[], log: readonly ToldLine[]): Message[][] {
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
    const heard = log.filter((line) => {
      const isAsked = deviceIds.length === 0 || deviceIds.includes(line.deviceId);
      return line.userId === userId && isAsked && compare(line.position, from) > 0;
    });
    const messages = heard.map((line): Message => ({ webhook, line, isTaken: false }));
    return [...Map.groupBy(messages, ({ line }) => line.deviceId).values()];
  });
}

function lostOf(queues: readonly (readonly Message[])[]): Message | undefined {
  const never = Number.POSITIVE_INFINITY;
  for (const queue of queues) {
    const lost = queue.find(
      ({ webhook, line, isTaken }) => !isTaken && webhook.removedSeq === never && line.removedSeq === never,
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
  const said = Object.values(data.attributes ?? {}).map(String);
  demand(
    type === kind &&
      data.deviceId === deviceId &&
      (data.updateTime ?? data.time) === timeMs &&
      said.join() === changes.map(([, value]) => String(value)).join(),
    () => `a webhook was told ${body}; what happened is ${kind} ${line.body}`,
  );
}
