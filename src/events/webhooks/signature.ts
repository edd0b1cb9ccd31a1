import { createHmac, randomBytes } from "node:crypto";

const prefix = "whsec_";

/** A secret as Standard Webhooks writes it: 192 random bits in base64 behind a prefix. */
export function newWebhookSecret(): string {
  return prefix + randomBytes(24).toString("base64");
}

/** The three headers with which a receiver verifies the sender and detects replayed messages. */
export function signedHeaders(
  secret: string,
  message: { readonly id: string; readonly body: string },
  nowMs: number,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(nowMs / 1_000));
  const key = Buffer.from(secret.slice(prefix.length), "base64");
  const signature = createHmac("sha256", key).update(`${message.id}.${timestamp}.${message.body}`).digest("base64");
  return { "webhook-id": message.id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
}
