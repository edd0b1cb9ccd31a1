import { limits } from "../model/limits.ts";

/**
 * A request that HTTP itself gives reason to refuse, before any part of ours has looked at it. The sentence never
 * repeats what was sent: a mistyped address may hold a secret.
 */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, sentence: string, headers: Readonly<Record<string, string>> = {}) {
    super(sentence);
    this.name = "Refusal";
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

export const refusals = {
  malformed: (sentence: string) => new Refusal(400, "invalid_request", sentence),
  unknownPath: () => new Refusal(404, "not_found", "There is nothing at this path."),
  wrongMethod: (allowed: readonly string[]) =>
    new Refusal(405, "method_not_allowed", `This path takes only ${allowed.join(", ")}.`, {
      allow: allowed.join(", "),
    }),
  tooSlow: () => new Refusal(408, "request_timeout", "The request did not arrive in time."),
  bodyTooLarge: () => new Refusal(413, "body_too_large", "The body is larger than this path takes."),
  wrongContentType: () => new Refusal(415, "unsupported_media_type", "This path doesn't take this Content-Type."),
  headersTooLarge: () =>
    new Refusal(
      431,
      "headers_too_large",
      `The request line and headers are larger than ${limits.requestHeadBytes} bytes. Send fewer or shorter parameters.`,
    ),
};
