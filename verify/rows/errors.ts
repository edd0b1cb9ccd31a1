import { randomUUID } from "node:crypto";
import { summaryOf } from "../client/answer-summary.ts";
import type { Answer } from "../client/deployment.ts";
import { element } from "../client/xml.ts";
import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";
import type { RowContext } from "../row-context.ts";

export const errors: Row = {
  name: "errors",
  group: "The service itself",
  title: "Errors have the documented format",
  proves: "Every refusal is the error object of its interface, with a request id, and never a page.",
  isEssential: true,
  needs: [],
  after: [],
  async run(context) {
    const { deployment } = context;
    const badToken = { headers: { authorization: "Bearer no-such-token" } };
    const noToken = await deployment.call("/v3/users");
    checkError("a call without a token", noToken, 401);
    ensure(/^Bearer\b/i.test(noToken.headers.get("www-authenticate") ?? ""), () => ({
      seen: "A 401 of /v3 has no WWW-Authenticate: Bearer.",
      side: "between",
      next: "Pass the header on: several HTTP clients throw on a 401 that names no scheme.",
    }));
    checkError("a call with a bad token", await deployment.call("/v3/users", badToken), 401, "invalid_token");
    checkError("an unknown path", await deployment.call("/v3/no-such-thing", badToken), 404);
    // A new id in each run: repeated failures of one client are throttled.
    const client_id = `nobody-${randomUUID()}`;
    const client = { grant_type: "refresh_token", refresh_token: "none", client_id, client_secret: "none" };
    checkError("an unknown client", await deployment.post("/oauth2/access_token", client), 401, "invalid_client");
    await adaptorAndPlatform(context);
    return {
      seen: "/v3, /oauth2, the adaptor and platform calls refuse in their formats, with request ids.",
    };
  },
};

/** Checks for `{"error", "error_description", "request_id"}`, with the same id in the header. */
function checkError(call: string, answer: Answer, status: number, code?: string): void {
  const { json, headers } = answer;
  ensure(answer.status === status && (code === undefined || json?.error === code || json === undefined), () => ({
    seen: `${call} was answered with ${summaryOf(answer)}, not ${status} ${code ?? ""}.`,
    side: "between",
    next: "Call the service directly: if its answer is right, a proxy in front of it changes the status.",
  }));
  const isComplete = [json?.error, json?.error_description, json?.request_id].every((part) => typeof part === "string");
  ensure(isComplete, () => ({
    seen: `The ${status} for ${call} is ${json === undefined ? `${headers.get("content-type") ?? "empty"}` : "JSON"}, not an error object with error, error_description and request_id.`,
    side: "between",
    next: "Turn off the error pages of the proxy in front of the service: clients read the JSON in an error.",
  }));
  ensure(headers.get("x-request-id") === json.request_id, () => ({
    seen: `X-Request-Id and request_id differ in the ${status} for ${call}.`,
    side: "between",
    next: "Let the proxy in front of the service pass X-Request-Id on unchanged: it identifies the line in the log.",
  }));
}

async function adaptorAndPlatform({ deployment }: RowContext): Promise<void> {
  const fields = { secToken: "none", anEcosystemName: "nest" };
  const adaptor = await deployment.call(`/adaptor/federatedtokens?${new URLSearchParams(fields)}`);
  ensure(
    adaptor.status === 401 && adaptor.json?.errorCode === 106 && typeof adaptor.json.errorMessage === "string",
    () => ({
      seen: `The adaptor answered a bad secToken with ${summaryOf(adaptor)}, not 401 with errorCode 106.`,
      side: "between",
      next: "Pass the adaptor's JSON errors on unchanged: SDKs act on errorCode.",
    }),
  );
  const platform = await deployment.platform("getDeviceList", { secToken: "none" });
  ensure(platform.status === 500 && element(platform.text, "errorCode") === "106", () => ({
    seen: `The platform calls answered a bad secToken with ${summaryOf(platform)}, not with the XML fault 106.`,
    side: "between",
    next: "Pass XML faults on, although their status is 500: platform clients read them.",
  }));
}
