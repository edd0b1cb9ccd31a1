import { randomUUID } from "node:crypto";
import { summaryOf } from "../client/answer-summary.ts";
import type { Answered } from "../client/deployment.ts";
import { element } from "../client/xml.ts";
import { claim } from "../outcome.ts";
import type { Row } from "../row.ts";
import type { RowContext } from "../row-context.ts";

export const errors: Row = {
  name: "errors",
  group: "Reach",
  title: "Errors come in their shape",
  proves: "Every refusal is the error object of its interface, with a request id to look it up by, and never a page.",
  isEssential: true,
  needs: [],
  after: [],
  async run(context) {
    const { deployment } = context;
    const bad = { headers: { authorization: "Bearer no-such-token" } };
    const noToken = await deployment.call("/v3/users");
    standard("a call without a token", noToken, 401);
    claim(/^Bearer\b/i.test(noToken.headers.get("www-authenticate") ?? ""), () => ({
      seen: "A 401 of /v3 has no WWW-Authenticate: Bearer.",
      side: "between",
      next: "Let the header through: several HTTP clients throw on a 401 that names no scheme.",
    }));
    standard("a call with a bad token", await deployment.call("/v3/users", bad), 401, "invalid_token");
    standard("an unknown path", await deployment.call("/v3/no-such-thing", bad), 404);
    // Another one each time: a name that fails again and again is made to wait.
    const client_id = `nobody-${randomUUID()}`;
    const client = { grant_type: "refresh_token", refresh_token: "none", client_id, client_secret: "none" };
    standard("an unknown client", await deployment.post("/oauth2/access_token", client), 401, "invalid_client");
    await adaptorAndPlatform(context);
    return { seen: "/v3, /oauth2, the adaptor and the platform calls refuse in their own shapes, with request ids." };
  },
};

/** `{"error", "error_description", "request_id"}`, and the id in the header as well. */
function standard(what: string, answer: Answered, status: number, code?: string): void {
  const { json, headers } = answer;
  claim(answer.status === status && (code === undefined || json?.error === code || json === undefined), () => ({
    seen: `${what} was answered with ${summaryOf(answer)}, not ${status} ${code ?? ""}.`,
    side: "between",
    next: "Ask the service itself: if it answers right, what stands before it changes the status.",
  }));
  const isWhole = [json?.error, json?.error_description, json?.request_id].every((part) => typeof part === "string");
  claim(isWhole, () => ({
    seen: `The ${status} for ${what} is ${json === undefined ? `${headers.get("content-type") ?? "empty"}` : "JSON"}, not an error object with error, error_description and request_id.`,
    side: "between",
    next: "Turn off the error pages of whatever stands before the service: clients read the JSON in an error.",
  }));
  claim(headers.get("x-request-id") === json.request_id, () => ({
    seen: `X-Request-Id and request_id differ in the ${status} for ${what}.`,
    side: "between",
    next: "Let what stands before the service pass X-Request-Id on as it is: it leads to the line in the log.",
  }));
}

async function adaptorAndPlatform({ deployment }: RowContext): Promise<void> {
  const fields = { secToken: "none", anEcosystemName: "nest" };
  const adaptor = await deployment.call(`/adaptor/federatedtokens?${new URLSearchParams(fields)}`);
  claim(
    adaptor.status === 401 && adaptor.json?.errorCode === 106 && typeof adaptor.json.errorMessage === "string",
    () => ({
      seen: `The adaptor answered a bad secToken with ${summaryOf(adaptor)}, not 401 with errorCode 106.`,
      side: "between",
      next: "Let the adaptor's JSON errors through as they are: SDKs act on errorCode.",
    }),
  );
  const platform = await deployment.platform("getDeviceList", { secToken: "none" });
  claim(platform.status === 500 && element(platform.text, "errorCode") === "106", () => ({
    seen: `The platform calls answered a bad secToken with ${summaryOf(platform)}, not with the XML fault 106.`,
    side: "between",
    next: "Let XML faults through, though they come with status 500: platform clients read them.",
  }));
}
