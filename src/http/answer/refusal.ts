import { limits } from "../../model/limits.ts";
import type { MediaType } from "../request/body-types.ts";

/**
 * A refusal by the HTTP layer, before a route handles the request. The sentence never repeats parts of the request: a
 * mistyped address may hold a secret.
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
  unknownPath: (path = "") =>
    new Refusal(
      404,
      "not_found",
      path !== "/" && path.endsWith("/")
        ? "There is nothing at this path. Leave out the slash at its end."
        : "There is nothing at this path.",
    ),
  wrongMethod: (allowed: readonly string[]) =>
    new Refusal(405, "method_not_allowed", `This path takes only ${allowed.join(", ")}.`, {
      allow: allowed.join(", "),
    }),
  tooSlow: () => new Refusal(408, "request_timeout", "The request did not arrive in time."),
  bodyTooLarge: (mostBytes: number) =>
    new Refusal(413, "body_too_large", `The body is larger than ${mostBytes} bytes, the most that this path takes.`),
  /** `accepted`: the media types of bodies that the path takes. RFC 9110 15.5.16: the Accept header names them too. */
  wrongContentType: (...accepted: readonly MediaType[]) =>
    accepted.length === 0
      ? new Refusal(415, "unsupported_media_type", "This path takes no body.")
      : new Refusal(
          415,
          "unsupported_media_type",
          `The Content-Type of the body must be ${accepted.join(" or ")}, in UTF-8.`,
          { accept: accepted.join(", ") },
        ),
  encodedBody: () =>
    new Refusal(415, "unsupported_media_type", "The body must be sent without Content-Encoding: it is not decoded.", {
      "accept-encoding": "identity",
    }),
  headersTooLarge: () =>
    new Refusal(
      431,
      "headers_too_large",
      `The request line and headers are larger than ${limits.requestHeadBytes} bytes. Send fewer or shorter parameters.`,
    ),
};
