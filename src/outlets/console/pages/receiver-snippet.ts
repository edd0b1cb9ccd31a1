/** A receiver's check of a message in Node, as Standard Webhooks specifies it. Shown while no client has a webhook. */
export const receiverSnippet = `import { createHmac, timingSafeEqual } from "node:crypto";

const key = Buffer.from(process.env.WEBHOOK_SECRET.slice("whsec_".length), "base64");

/** The body is the text of the request as it came, before it is parsed. */
export function isGenuine(headers, body) {
  const { "webhook-id": id, "webhook-timestamp": seconds, "webhook-signature": signatures = "" } = headers;
  if (!(Math.abs(Date.now() / 1000 - seconds) < 300)) return false;
  const expected = createHmac("sha256", key).update(\`\${id}.\${seconds}.\${body}\`).digest();
  const sent = signatures.split(" ").map((one) => Buffer.from(one.replace(/^v1,/, ""), "base64"));
  return sent.some((one) => one.length === expected.length && timingSafeEqual(one, expected));
}
`;
