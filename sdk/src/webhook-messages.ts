import { InvalidArgument, InvalidSignature } from "./errors.ts";
import type {
  AlertEvent,
  AttributeEvent,
  CommandEvent,
  DeviceEvent,
  LinkEvent,
  LinkSessionEvent,
  ThingCommandEvent,
  ThingEvent,
} from "./events.ts";
import { webCrypto } from "./randomness.ts";

/** A request that a webhook has received. */
export interface WebhookRequest {
  /** The headers, as `fetch` or as Node's `http` has them. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The text of the body as it came. A body that was parsed and written again has another signature. */
  readonly body: string;
}

type DataOf<Event> = { readonly [Name in keyof Event as Exclude<Name, "type" | "id">]: Event[Name] };

interface MessageBase<Type extends string, Data> {
  /** The `webhook-id`. It is the same at each attempt: skip ids that you have received before. */
  readonly id: string;
  readonly type: Type;
  /** When the service stored the change, in ISO 8601. */
  readonly timestamp: string;
  readonly data: Data;
}

/** A verified message of a webhook. A later version of the service may send further types. */
export type WebhookMessage =
  | MessageBase<
      "attribute",
      Omit<DataOf<AttributeEvent>, "name" | "value"> & {
        readonly attributes: Readonly<Record<string, AttributeEvent["value"]>>;
      }
    >
  | MessageBase<
      "thing",
      Pick<ThingEvent, "deviceId" | "updateTime" | "cause"> & {
        readonly things: readonly Pick<ThingEvent, "thingId" | "what" | "fields">[];
      }
    >
  | MessageBase<"thingCommand", DataOf<ThingCommandEvent>>
  | MessageBase<"alert", DataOf<AlertEvent>>
  | MessageBase<"link", DataOf<LinkEvent>>
  | MessageBase<"linkSession", DataOf<LinkSessionEvent>>
  | MessageBase<"command", DataOf<CommandEvent>>
  | MessageBase<"device", DataOf<DeviceEvent>>
  | MessageBase<"resync", { readonly reason: "restored" | "too_many_waiting" }>;

/** Tolerated difference of the clocks, as Standard Webhooks recommends. It limits replays of recorded messages. */
const toleratedSeconds = 300;

/**
 * Checks the signature of a message (Standard Webhooks) with the secret of its webhook, and returns the message. Throws
 * `InvalidSignature` for a message that was forged, changed, or sent more than five minutes ago.
 */
export async function verifyWebhook(secret: string, { headers, body }: WebhookRequest): Promise<WebhookMessage> {
  const [id, seconds, signatures] = ["id", "timestamp", "signature"].map((name) => readHeader(headers, name));
  if (!id || !seconds || !signatures) {
    throw new InvalidSignature("The request needs the headers webhook-id, webhook-timestamp and webhook-signature.");
  }
  if (!(Math.abs(Date.now() / 1_000 - Number(seconds)) <= toleratedSeconds)) {
    throw new InvalidSignature(
      "The message was sent more than five minutes ago, or the clock of this machine is wrong.",
    );
  }
  const { subtle } = await webCrypto();
  const [hmac, signed] = [{ name: "HMAC", hash: "SHA-256" }, new TextEncoder().encode(`${id}.${seconds}.${body}`)];
  const key = await subtle.importKey("raw", readSecret(secret), hmac, false, ["verify"]);
  for (const signature of signatures.split(" ")) {
    const bytes = signature.startsWith("v1,") ? fromBase64(signature.slice(3)) : undefined;
    if (bytes && (await subtle.verify("HMAC", key, bytes, signed))) return { ...JSON.parse(body), id };
  }
  throw new InvalidSignature("The message is not signed with this secret.");
}

function readHeader(headers: WebhookRequest["headers"], name: string): string {
  const value = headers instanceof Headers ? headers.get(`webhook-${name}`) : headers[`webhook-${name}`];
  return typeof value === "string" ? value : "";
}

function readSecret(secret: string): Uint8Array<ArrayBuffer> {
  const key = secret.startsWith("whsec_") ? fromBase64(secret.slice("whsec_".length)) : undefined;
  if (!key || key.length === 0) {
    throw new InvalidArgument("The secret must be the whsec_… that the answer to webhooks.add had.");
  }
  return key;
}

/** The bytes of a text in base64; undefined if it is malformed. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
