import type { Answer, Fault, ProxiedRequest } from "./breaking-proxy.ts";

export interface BrokenDeployment {
  readonly what: string;
  /** The only row that must fail. */
  readonly row: string;
  /** Matches what the row reports. */
  readonly expected: RegExp;
  readonly breaking: () => Fault;
  /** Only visible after a minute. */
  readonly needsPatience?: true;
}

const isTokenCall = ({ path }: ProxiedRequest) => path.startsWith("/oauth2/access_token");
const isDevice = ({ path, method }: ProxiedRequest) => method === "GET" && /^\/v3\/devices\/\d+(\?|$)/.test(path);

/** Faults of deployments in practice, one at a time. */
export const brokenDeployments: readonly BrokenDeployment[] = [
  {
    what: "isn't ready",
    row: "ready",
    expected: /store \(The check failed/,
    breaking: () =>
      inJson(
        ({ path }) => path === "/readyz",
        () => ({ status: "unavailable", checks: { store: { ok: false, reason: "The check failed." } } }),
        503,
      ),
  },
  {
    what: "answers errors with pages",
    row: "errors",
    expected: /text\/html/,
    breaking: () => ({
      changeAnswer: (answer, { path }) =>
        answer.status >= 400 && !path.startsWith("/oauth2/authorize")
          ? { ...answer, headers: { "content-type": "text/html" }, body: "<h1>Something went wrong</h1>" }
          : answer,
    }),
  },
  {
    what: "loses cookies",
    row: "authorize",
    expected: /login page|terms|cookies/,
    breaking: () => ({ changeRequest: ({ headers: { cookie, ...headers }, ...request }) => ({ ...request, headers }) }),
  },
  {
    what: "drops the state",
    row: "state",
    expected: /no state/,
    breaking: () => ({
      changeAnswer: (answer) => {
        const location = answer.headers.location?.replace(/&state=[^&]*/, "");
        return location === undefined ? answer : { ...answer, headers: { ...answer.headers, location } };
      },
    }),
  },
  {
    what: "gives no refresh token",
    row: "exchange",
    expected: /lacks refresh_token/,
    breaking: () => inJson(isTokenCall, ({ refresh_token, ...rest }) => rest),
  },
  {
    what: "repeats its answer to a code",
    row: "code-once",
    expected: /exchanges of one code/,
    breaking: () => cached((request) => isTokenCall(request) && request.body.includes("authorization_code")),
  },
  {
    what: "doesn't rotate refresh tokens",
    row: "refresh",
    expected: /same refresh token/,
    breaking: () =>
      inJson(isTokenCall, (json, { body }) => {
        const sent = new URLSearchParams(body).get("refresh_token");
        return sent && json.refresh_token ? { ...json, refresh_token: sent } : json;
      }),
  },
  {
    what: "answers for revoked tokens from a cache",
    row: "revoke",
    expected: /revoked access token still got a 200/,
    breaking: () => cached(({ path }) => path === "/v3/users"),
  },
  {
    what: "removes cursors from the query",
    row: "paging",
    expected: /a second time/,
    breaking: () => ({
      changeRequest: (request) =>
        request.path.startsWith("/v3/devices?")
          ? { ...request, path: request.path.replace(/cursor=[^&]*/, "") }
          : request,
    }),
  },
  {
    what: "distinguishes foreign devices from absent ones",
    row: "foreign",
    expected: /somebody else's device/,
    breaking: () => ({
      changeAnswer: (answer, { path, method }) => {
        const [, id = ""] = /^\/v3\/devices\/(\d+)$/.exec(path) ?? [];
        const isForeign = answer.status === 404 && method === "GET" && id !== "" && Number(id) < 1_000_000;
        return isForeign ? { ...answer, status: 403 } : answer;
      },
    }),
  },
  {
    what: "answers reads from a cache",
    row: "write",
    expected: /an older state/,
    breaking: () => cached(isDevice),
  },
  {
    what: "rounds times to seconds",
    row: "times",
    expected: /whole seconds/,
    breaking: () => ({
      changeAnswer: (answer, request) =>
        isDevice(request) ? { ...answer, body: answer.body.replaceAll(/("updateTime":\d+)\d{3}/g, "$1000") } : answer,
    }),
  },
  {
    what: "turns 118 into an error of its own",
    row: "linked-again",
    expected: /errorCode 118/,
    breaking: () => ({
      changeAnswer: (answer) =>
        answer.body.includes('"errorCode":118')
          ? {
              status: 500,
              headers: { "content-type": "application/json" },
              body: '{"message":"Internal server error"}',
            }
          : answer,
    }),
  },
  {
    what: "shows old names",
    row: "rename",
    expected: /still shows the old name/,
    breaking: () => ({
      changeAnswer: (answer, request) =>
        isDevice(request) ? { ...answer, body: answer.body.replaceAll("Renamed Room", "Hallway") } : answer,
    }),
  },
  {
    what: "shows everything as fresh",
    row: "cut-stream",
    expected: /still shown as present and fresh/,
    breaking: () => inJson(isDevice, (json) => ({ ...json, presenceInfo: 1, stale: false })),
  },
  {
    what: "cuts the fan's error text at its first comma",
    row: "fan-refused",
    expected: /is not error: <errormsg>/,
    breaking: () => ({
      changeAnswer: (answer, request) =>
        isDevice(request) ? { ...answer, body: answer.body.replaceAll(/"(error: [^",]*),[^"]*"/g, '"$1"') } : answer,
    }),
  },
  {
    what: "loses alerts",
    row: "alerts",
    expected: /the lamp was not off/,
    breaking: () => ({
      answerInstead: ({ path }) =>
        path.endsWith("/addTrigger")
          ? {
              status: 200,
              headers: { "content-type": "text/xml" },
              body: '<ns1:addTriggerResponse xmlns:ns1="http://arrayent.com/zamapi/"><triggerId>7</triggerId></ns1:addTriggerResponse>',
            }
          : undefined,
    }),
  },
  {
    what: "holds events back",
    row: "events",
    expected: /the change did not come/,
    breaking: () => ({ passesFrame: (frame) => !frame.includes("event: attribute") }),
  },
  {
    what: "drops Last-Event-ID",
    row: "events-resume",
    expected: /delivered 3 of the changes 1, 2, 3/,
    breaking: () => ({
      changeRequest: ({ headers: { "last-event-id": _, ...headers }, ...request }) => ({ ...request, headers }),
    }),
  },
];

/** A fault for each other row. */
export const otherFaults: readonly BrokenDeployment[] = [
  {
    what: "hides /livez",
    row: "alive",
    expected: /not 200/,
    breaking: () => ({ changeAnswer: (answer, { path }) => (path === "/livez" ? { ...answer, status: 404 } : answer) }),
  },
  {
    what: "publishes another issuer",
    row: "discovery",
    expected: /issuer is https:\/\/inside/,
    breaking: () => inJson(isAt("/.well-known/"), (json) => ({ ...json, issuer: "https://inside" })),
  },
  {
    what: "redirects to unregistered addresses",
    row: "redirect-refused",
    expected: /and a redirect/,
    breaking: () => ({
      changeAnswer: (answer, { path }) =>
        answer.status === 400 && path.includes("stranger.invalid")
          ? { ...answer, status: 302, headers: { location: "https://stranger.invalid/?error=invalid_request" } }
          : answer,
    }),
  },
  {
    what: "hides that the user declined",
    row: "declined",
    expected: /error server_error/,
    breaking: () => ({
      changeAnswer: (answer) => {
        const location = answer.headers.location?.replace("access_denied", "server_error");
        return location === undefined ? answer : { ...answer, headers: { ...answer.headers, location } };
      },
    }),
  },
  {
    what: "accepts any verifier",
    row: "pkce",
    expected: /wrong code_verifier was answered with 200/,
    breaking: () => ({
      changeAnswer: (answer, request) =>
        isTokenCall(request) && request.body.includes("made-up") ? { ...answer, status: 200, body: "{}" } : answer,
    }),
  },
  {
    what: "accepts a refresh token only once",
    row: "refresh-retry",
    expected: /sent again, was answered with 400/,
    breaking: () => {
      const used = new Set<string>();
      return {
        changeAnswer(answer, request) {
          const token = new URLSearchParams(request.body).get("refresh_token") ?? "";
          const isReuse = used.has(token);
          if (isTokenCall(request) && answer.status === 200 && token !== "") used.add(token);
          return isReuse ? { ...answer, status: 400, body: '{"error":"invalid_grant"}' } : answer;
        },
      };
    },
  },
  {
    what: "wraps the list of users",
    row: "users",
    expected: /not a list of integers/,
    breaking: () => inJson(isAt("/v3/users"), (json) => ({ users: json })),
  },
  {
    what: "says nothing about bad input",
    row: "fields",
    expected: /names no field/,
    breaking: () => ({
      changeAnswer: (answer) =>
        answer.status === 400
          ? { ...answer, body: answer.body.replace(/("error_description":)"[^"]*"/, '$1"Bad request."') }
          : answer,
    }),
  },
  {
    what: "accepts any cursor",
    row: "cursor",
    expected: /one character changed was answered with 200/,
    breaking: () => ({
      changeAnswer: (answer, { path }) =>
        answer.status === 400 && path.includes("cursor=") ? { ...answer, status: 200, body: '{"devices":[]}' } : answer,
    }),
  },
  {
    what: "removes secTokens",
    row: "sign-in",
    expected: /not a securityToken/,
    breaking: () => ({
      changeAnswer: (answer) => ({ ...answer, body: answer.body.replace(/<securityToken>.*<\/securityToken>/, "") }),
    }),
  },
  {
    what: "turns 119 into an error of its own",
    row: "unlinked",
    expected: /does not tell whether the user is linked/,
    breaking: () => ({
      changeAnswer: (answer) =>
        answer.body.includes('"errorCode":119') ? { ...answer, status: 502, body: "{}" } : answer,
    }),
  },
  {
    what: "turns the device's id into a number",
    row: "link",
    expected: /DeviceId is a number/,
    breaking: () => inJson(isAt("/adaptor/federatedtokens"), (json) => ({ ...json, DeviceId: Number(json.DeviceId) })),
  },
  {
    what: "shows an alarm in the wrong colour",
    row: "mirror",
    expected: /ui_color_state of .* is gray, upstream (green|red)/,
    breaking: () => ({
      changeAnswer: (answer, request) =>
        isDevice(request) ? { ...answer, body: answer.body.replaceAll('"green"', '"gray"') } : answer,
    }),
  },
  {
    what: "never shows a fan request as accepted",
    row: "fan-accepted",
    expected: /requestWrite still reads "true"/,
    breaking: () => ({
      changeAnswer: (answer, request) =>
        isDevice(request)
          ? { ...answer, body: answer.body.replace(/(requestWrite":\{"value":)null/, '$1"true"') }
          : answer,
    }),
  },
  {
    what: "returns another secret than it signs with",
    row: "webhooks",
    expected: /signature does not match/,
    breaking: () => ({
      changeAnswer: (answer, { path }) =>
        path === "/v3/webhooks" ? { ...answer, body: answer.body.replace("whsec_", "whsec_AAAA") } : answer,
    }),
  },
  {
    what: "refuses DELETE",
    row: "unlink",
    expected: /DELETE federatedtokens was 405/,
    breaking: () => ({
      answerInstead: ({ method, path }) =>
        method === "DELETE" && path.startsWith("/adaptor") ? { status: 405, headers: {}, body: "" } : undefined,
    }),
  },
  {
    what: "accepts retired refresh tokens",
    row: "refresh-reuse",
    expected: /retired refresh token was answered with 200/,
    needsPatience: true,
    breaking: () => ({
      changeAnswer: (answer, request) =>
        isTokenCall(request) && answer.status === 400 ? { ...answer, status: 200, body: "{}" } : answer,
    }),
  },
];

function isAt(start: string) {
  return ({ path }: ProxiedRequest) => path.startsWith(start);
}

// biome-ignore lint/suspicious/noExplicitAny: the answers are of many shapes
type Change = (json: any, request: ProxiedRequest) => object;

function inJson(matches: (request: ProxiedRequest) => boolean, change: Change, status?: number): Fault {
  return {
    changeAnswer(answer, request) {
      if (!matches(request) || answer.status !== 200) return answer;
      return {
        ...answer,
        status: status ?? answer.status,
        body: JSON.stringify(change(JSON.parse(answer.body), request)),
      };
    },
  };
}

/** Caches the first successful answer to each request forever. */
function cached(matches: (request: ProxiedRequest) => boolean): Fault {
  const kept = new Map<string, Answer>();
  const keyOf = ({ method, path, headers, body }: ProxiedRequest) =>
    `${method} ${path} ${headers.authorization} ${body}`;
  return {
    answerInstead: (request) => (matches(request) ? kept.get(keyOf(request)) : undefined),
    changeAnswer(answer, request) {
      if (matches(request) && answer.status === 200) kept.set(keyOf(request), answer);
      return answer;
    },
  };
}
