import type { WebhookAdministration, WebhookRecord } from "../../events/webhooks/webhook-administration.ts";

/**
 * Webhooks for an operator without the right to secrets. Receivers often take a token in the query of their address, so
 * only origin and path are left of it.
 */
export function withPlainAddresses(webhooks: WebhookAdministration): WebhookAdministration {
  return {
    ...webhooks,
    list: async (question) => (await webhooks.list(question)).map(withPlainAddress),
    pause: async (webhook) => withPlainAddress(await webhooks.pause(webhook)),
    resume: async (webhook) => withPlainAddress(await webhooks.resume(webhook)),
  };
}

function withPlainAddress(record: WebhookRecord): WebhookRecord {
  const { origin, pathname } = URL.canParse(record.url) ? new URL(record.url) : { origin: "", pathname: "" };
  return { ...record, url: `${origin}${pathname}` };
}
