import type { Projection } from "../../runtime/json/projection.ts";
import { handshakeBounds, isJsonObject, type JsonObject, parseUntrusted } from "../../runtime/json/untrusted-json.ts";
import { pause, type Runtime, within } from "../../runtime/runtime.ts";
import type { Feed, FeedMessage, FeedReceiver } from "../feed.ts";
import type { CallJson, JsonAnswer } from "../kit/json-call.ts";
import { accountIn } from "./events.ts";
import { describeRefusal } from "./refusal.ts";
import type { ServiceAccountTokens } from "./service-account.ts";

export interface SubscriptionParts {
  /** `{pubsubUrl}/projects/{project}/subscriptions/{name}` */
  readonly url: string;
  readonly tokens: Pick<ServiceAccountTokens, "token" | "forget">;
  readonly call: CallJson;
  readonly runtime: Runtime;
  /** The time limit of a pull. Google keeps an empty pull open for about a minute and a half. */
  readonly pullLimitMs: number;
  /** The time limit of every other call. */
  readonly answerLimitMs: number;
}

const messagesAtOnce = 100;
/** Larger messages are not events of this interface. */
const longestContent = 65_536;
/** What is read of a pull. The event of a message is in base64. */
const pulled: Projection = {
  pick: {
    receivedMessages: {
      each: { pick: { ackId: true, message: { pick: { data: { text: 90_000 }, messageId: true } } } },
      limit: messagesAtOnce,
    },
  },
};
const retry = { fromMs: 1_000, toMs: 30_000 };

interface Received {
  readonly ackIds: readonly string[];
  readonly messages: readonly FeedMessage[];
}

/** The Pub/Sub subscription of the project, pulled over REST. One pull holds the events of all accounts. */
export class Subscription implements Feed {
  readonly #parts: SubscriptionParts;

  constructor(parts: SubscriptionParts) {
    this.#parts = parts;
  }

  async pull(receiver: FeedReceiver, signal: AbortSignal): Promise<void> {
    const { runtime } = this.#parts;
    for (let failures = 0; !signal.aborted; ) {
      const fault = await this.#pullOnce(receiver, signal).catch((error) => {
        runtime.report.error({ error }, "a pull of the feed failed unexpectedly");
        return "an unexpected error";
      });
      if (signal.aborted) return;
      failures = fault === undefined ? 0 : failures + 1;
      if (fault === undefined) continue;
      receiver.failed(fault);
      const longestMs = Math.min(retry.toMs, retry.fromMs * 2 ** (failures - 1));
      await pause(runtime, longestMs * (0.5 + runtime.random() / 2), signal);
    }
  }

  /** One pull; returns why there was no usable answer. */
  async #pullOnce(receiver: FeedReceiver, signal: AbortSignal): Promise<string | undefined> {
    const answer = await this.#call("pull", { maxMessages: messagesAtOnce }, this.#parts.pullLimitMs, signal, pulled);
    if ("fault" in answer) return answer.fault;
    const { ackIds, messages } = readPull(answer.document);
    if (ackIds.length > 0) {
      try {
        await receiver.store(messages);
      } catch {
        // Best effort: without it the messages come again when their deadline has passed.
        await this.#settle("modifyAckDeadline", { ackIds, ackDeadlineSeconds: 0 }, signal);
        return "the store is not available";
      }
      receiver.unreadable(ackIds.length - messages.length);
      await this.#settle("acknowledge", { ackIds }, signal);
    }
    receiver.answered();
    return undefined;
  }

  /** A message whose acknowledgement is lost comes again, and is stored again without harm. */
  async #settle(method: string, body: object, signal: AbortSignal): Promise<void> {
    const answer = await this.#call(method, body, this.#parts.answerLimitMs, signal);
    if ("fault" in answer) this.#parts.runtime.report.warn({ method, fault: answer.fault }, "the feed did not answer");
  }

  async #call(
    method: string,
    body: object,
    limitMs: number,
    signal: AbortSignal,
    list?: Projection,
  ): Promise<{ readonly document: JsonObject } | { readonly fault: string }> {
    const { url, tokens, runtime, call } = this.#parts;
    return within(runtime, limitMs, signal, async (inTime) => {
      const access = await tokens.token(inTime);
      if ("fault" in access) return access;
      const sent = {
        method: "POST",
        url: `${url}:${method}`,
        token: access.token,
        body,
        ...(list && { list }),
      } as const;
      const answer = await call(sent, inTime);
      if (answer.isAnswered && answer.status === 401) tokens.forget();
      return resultOf(answer);
    });
  }
}

function resultOf(answer: JsonAnswer): { readonly document: JsonObject } | { readonly fault: string } {
  if (!answer.isAnswered) return { fault: answer.detail };
  return answer.status === 200
    ? { document: answer.document }
    : { fault: describeRefusal(answer.status, answer.document) };
}

function readPull({ receivedMessages }: JsonObject): Received {
  const ackIds: string[] = [];
  const messages: FeedMessage[] = [];
  for (const received of Array.isArray(receivedMessages) ? receivedMessages : []) {
    if (!isJsonObject(received) || typeof received.ackId !== "string") continue;
    ackIds.push(received.ackId);
    const message = readMessage(received.message);
    if (message) messages.push(message);
  }
  return { ackIds, messages };
}

function readMessage(message: unknown): FeedMessage | undefined {
  if (!isJsonObject(message) || typeof message.data !== "string" || typeof message.messageId !== "string") {
    return undefined;
  }
  const event = parseUntrusted(Buffer.from(message.data, "base64").toString("utf8"), handshakeBounds);
  const account = accountIn(event);
  const content = JSON.stringify(event);
  if (account === undefined || content.length > longestContent || !/^[\x21-\x7e]{1,200}$/.test(message.messageId)) {
    return undefined;
  }
  return { id: message.messageId, account, content };
}
