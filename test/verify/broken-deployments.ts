import type { Answer, Asked, Breaking } from "./breaking-proxy.ts";

export interface BrokenDeployment {
  readonly what: string;
  /** The one row that must fail. */
  readonly row: string;
  /** What its report must say. */
  readonly says: RegExp;
  readonly breaking: () => Breaking;
}

const isTokenCall = ({ path }: Asked) => path.startsWith("/oauth2/access_token");
const isDevice = ({ path, method }: Asked) => method === "GET" && /^\/v3\/devices\/\d+(\?|$)/.test(path);

/** Ways in which a deployment goes wrong in the field, one thing at a time. */
export const brokenDeployments: readonly BrokenDeployment[] = [
  {
    what: "isn't ready",
    row: "ready",
    says: /store \(The check failed/,
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
    says: /text\/html/,
    breaking: () => ({
      answer: (answer, { path }) =>
        answer.status >= 400 && !path.startsWith("/oauth2/authorize")
          ? { ...answer, headers: { "content-type": "text/html" }, body: "<h1>Something went wrong</h1>" }
          : answer,
    }),
  },
  {
    what: "loses cookies",
    row: "authorize",
    says: /login page|terms|cookies/,
    breaking: () => ({ ask: ({ headers: { cookie, ...headers }, ...asked }) => ({ ...asked, headers }) }),
  },
  {
    what: "forgets the state",
    row: "state",
    says: /no state/,
    breaking: () => ({
      answer: (answer) => {
        const location = answer.headers.location?.replace(/&state=[^&]*/, "");
        return location === undefined ? answer : { ...answer, headers: { ...answer.headers, location } };
      },
    }),
  },
  {
    what: "gives no refresh token",
    row: "exchange",
    says: /lacks refresh_token/,
    breaking: () => inJson(isTokenCall, ({ refresh_token, ...rest }) => rest),
  },
  {
    what: "repeats its answer to a code",
    row: "code-once",
    says: /exchanges of one code/,
    breaking: () => cached((asked) => isTokenCall(asked) && asked.body.includes("authorization_code")),
  },
  {
    what: "doesn't rotate refresh tokens",
    row: "refresh",
    says: /same refresh token/,
    breaking: () =>
      inJson(isTokenCall, (json, { body }) => {
        const sent = new URLSearchParams(body).get("refresh_token");
        return sent && json.refresh_token ? { ...json, refresh_token: sent } : json;
      }),
  },
  {
    what: "answers for revoked tokens from a cache",
    row: "revoke",
    says: /revoked access token still got a 200/,
    breaking: () => cached(({ path }) => path === "/v3/users"),
  },
  {
    what: "takes cursors away from the query",
    row: "paging",
    says: /a second time/,
    breaking: () => ({
      ask: (asked) =>
        asked.path.startsWith("/v3/devices?") ? { ...asked, path: asked.path.replace(/cursor=[^&]*/, "") } : asked,
    }),
  },
  {
    what: "tells foreign devices from absent ones",
    row: "foreign",
    says: /somebody else's device/,
    breaking: () => ({
      answer: (answer, { path, method }) => {
        const [, id = ""] = /^\/v3\/devices\/(\d+)$/.exec(path) ?? [];
        const isForeign = answer.status === 404 && method === "GET" && id !== "" && Number(id) < 1_000_000;
        return isForeign ? { ...answer, status: 403 } : answer;
      },
    }),
  },
  {
    what: "answers reads from a cache",
    row: "write",
    says: /an older state/,
    breaking: () => cached(isDevice),
  },
  {
    what: "rounds times to seconds",
    row: "times",
    says: /whole seconds/,
    breaking: () => ({
      answer: (answer, asked) =>
        isDevice(asked) ? { ...answer, body: answer.body.replaceAll(/("updateTime":\d+)\d{3}/g, "$1000") } : answer,
    }),
  },
  {
    what: "turns 118 into an error of its own",
    row: "linked-again",
    says: /errorCode 118/,
    breaking: () => ({
      answer: (answer) =>
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
    says: /still shows the old name/,
    breaking: () => ({
      answer: (answer, asked) =>
        isDevice(asked) ? { ...answer, body: answer.body.replaceAll("Renamed Room", "Hallway") } : answer,
    }),
  },
  {
    what: "calls everything fresh",
    row: "cut-stream",
    says: /still shown as present and fresh/,
    breaking: () => inJson(isDevice, (json) => ({ ...json, presenceInfo: 1, stale: false })),
  },
  {
    what: "cuts the fan's error text at its first comma",
    row: "fan-refused",
    says: /is not error: <errormsg>/,
    breaking: () => ({
      answer: (answer, asked) =>
        isDevice(asked) ? { ...answer, body: answer.body.replaceAll(/"(error: [^",]*),[^"]*"/g, '"$1"') } : answer,
    }),
  },
  {
    what: "swallows alerts",
    row: "alerts",
    says: /the lamp was not off/,
    breaking: () => ({
      answerFor: ({ path }) =>
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
    says: /the change did not come/,
    breaking: () => ({ lets: (frame) => !frame.includes("event: attribute") }),
  },
  {
    what: "drops Last-Event-ID",
    row: "events-resume",
    says: /told 3 of the changes 1, 2, 3/,
    breaking: () => ({ ask: ({ headers: { "last-event-id": _, ...headers }, ...asked }) => ({ ...asked, headers }) }),
  },
];

// biome-ignore lint/suspicious/noExplicitAny: the answers are of many shapes
type Change = (json: any, asked: Asked) => object;

function inJson(isMeant: (asked: Asked) => boolean, change: Change, status?: number): Breaking {
  return {
    answer(answer, asked) {
      if (!isMeant(asked) || answer.status !== 200) return answer;
      return {
        ...answer,
        status: status ?? answer.status,
        body: JSON.stringify(change(JSON.parse(answer.body), asked)),
      };
    },
  };
}

/** The first good answer to a question is given for ever. */
function cached(isMeant: (asked: Asked) => boolean): Breaking {
  const kept = new Map<string, Answer>();
  const keyOf = ({ method, path, headers, body }: Asked) => `${method} ${path} ${headers.authorization} ${body}`;
  return {
    answerFor: (asked) => (isMeant(asked) ? kept.get(keyOf(asked)) : undefined),
    answer(answer, asked) {
      if (isMeant(asked) && answer.status === 200) kept.set(keyOf(asked), answer);
      return answer;
    },
  };
}
