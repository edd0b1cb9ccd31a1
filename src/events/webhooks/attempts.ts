import type { Report } from "../../runtime/runtime.ts";
import type { Attempt } from "../../store/tables/webhook-deliveries.ts";
import type { WebhookRow } from "../../store/tables/webhooks.ts";
import type { Post } from "./post.ts";
import { signedHeaders } from "./signature.ts";

export interface AttemptParts {
  readonly post: Post;
  /** Both are sealed: they throw when the key that sealed them is missing. */
  readonly secretOf: (webhook: WebhookRow) => string;
  readonly addressOf: (webhook: WebhookRow) => string;
}

/** How many webhooks that can't be unsealed are remembered, so that each is reported once. */
const reportedAtMost = 1_000;

const unsealable: Attempt = {
  status: null,
  text: "the webhook can't be unsealed: tell the operator, or remove it and add it again",
};

/** Signs and sends messages. A webhook that can't be unsealed fails its attempts like one that doesn't answer. */
export class Attempts {
  readonly #parts: AttemptParts;
  readonly #report: Report;
  readonly #reported = new Set<string>();

  constructor(parts: AttemptParts, report: Report) {
    this.#parts = parts;
    this.#report = report;
  }

  async make(
    webhook: WebhookRow,
    message: { readonly id: string; readonly body: string },
    nowMs: number,
    signal: AbortSignal,
  ): Promise<Attempt> {
    const opened = this.#opened(webhook);
    if (!opened) return unsealable;
    const headers = signedHeaders(opened.secret, message, nowMs);
    return this.#parts.post(opened.address, headers, message.body, signal);
  }

  #opened(webhook: WebhookRow): { readonly secret: string; readonly address: string } | undefined {
    const { secretOf, addressOf } = this.#parts;
    const { id, ownerId } = webhook;
    try {
      const opened = { secret: secretOf(webhook), address: addressOf(webhook) };
      this.#reported.delete(id);
      return opened;
    } catch (error) {
      if (this.#reported.has(id) || this.#reported.size >= reportedAtMost) return undefined;
      this.#reported.add(id);
      this.#report.error(
        { webhook: id, owner: ownerId, error },
        "a webhook can't be sent to, since its secret or address can't be unsealed; restore the key that sealed it",
      );
      return undefined;
    }
  }
}
