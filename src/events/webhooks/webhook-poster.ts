import type { Logger } from "../../runtime/runtime.ts";
import type { Attempt } from "../../store/tables/webhook-deliveries.ts";
import type { WebhookRow } from "../../store/tables/webhooks.ts";
import type { Post } from "./post.ts";
import { signedHeaders } from "./signature.ts";

export interface AttemptParts {
  readonly post: Post;
  /** `secretOf` and `addressOf` unseal the stored value, and throw when the key that sealed it is missing. */
  readonly secretOf: (webhook: WebhookRow) => string;
  readonly addressOf: (webhook: WebhookRow) => string;
}

/** A webhook that can't be unsealed is logged once. This many are remembered; the oldest is forgotten first. */
const maximalReported = 1_000;

const unsealFailure: Attempt = {
  status: null,
  text: "the webhook can't be unsealed: tell the operator, or remove it and add it again",
};

/** Signs messages and posts them to webhooks. If a webhook can't be unsealed, the attempt fails and is repeated. */
export class WebhookPoster {
  readonly #parts: AttemptParts;
  readonly #report: Logger;
  readonly #reported = new Set<string>();

  constructor(parts: AttemptParts, report: Logger) {
    this.#parts = parts;
    this.#report = report;
  }

  async make(
    webhook: WebhookRow,
    message: { readonly id: string; readonly body: string },
    nowMs: number,
    signal: AbortSignal,
  ): Promise<Attempt> {
    const unsealed = this.#unseal(webhook);
    if (!unsealed) return unsealFailure;
    const headers = signedHeaders(unsealed.secret, message, nowMs);
    return this.#parts.post(unsealed.address, headers, message.body, signal);
  }

  #unseal(webhook: WebhookRow): { readonly secret: string; readonly address: string } | undefined {
    const { secretOf, addressOf } = this.#parts;
    const { id, ownerId } = webhook;
    try {
      const unsealed = { secret: secretOf(webhook), address: addressOf(webhook) };
      this.#reported.delete(id);
      return unsealed;
    } catch (error) {
      if (this.#reported.has(id)) return undefined;
      this.#reported.add(id);
      const [oldest] = this.#reported;
      if (this.#reported.size > maximalReported) this.#reported.delete(oldest!);
      this.#report.error(
        { webhook: id, owner: ownerId, error },
        "a webhook can't be sent to, since its secret or address can't be unsealed; restore the key that sealed it",
      );
      return undefined;
    }
  }
}
