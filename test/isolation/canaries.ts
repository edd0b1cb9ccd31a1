import { everyAddress, everyPath } from "./every-address.ts";
import type { WireRequest } from "./wire.ts";

/** The word by which each secret is found wherever it appears. */
export const mark = "CANARY";

const shaped = (prefix: string, kind: string) => prefix + `${mark}-${kind}-${"x".repeat(43)}`.slice(0, 43);

/** One secret of each kind, in the format of a real one, so that it gets as far as a real one. */
export const canaries = {
  password: `${mark} password`,
  secToken: shaped("bws_", "secToken"),
  anAccessToken: `c.${mark}-ecosystem`,
  access_token: shaped("bwa_", "access"),
  refresh_token: shaped("bwr_", "refresh"),
  code: shaped("", "code"),
  client_secret: shaped("bwcs_", "client"),
  code_verifier: shaped("", "verifier"),
  transaction: shaped("", "transaction"),
  csrf: shaped("", "csrf"),
  cookie: shaped("", "cookie"),
  state: shaped("", "state"),
};

/** Parameters that hold a secret only by mistake. */
const otherParameters = [
  ...["name", "username", "appId", "userId", "devId", "deviceTypeId", "id", "anEcosystemName", "token", "client_id"],
  ...["redirect_uri", "scope", "grant_type", "response_type", "token_type_hint", "code_challenge", "decision"],
  ...["code_challenge_method", "cursor", "since", "attribute", "deviceTypeName", "deviceId", "from", "to"],
  ...["lastEventId", "url", "deviceIds", "attributes", "attrName", "operation", "threshold", "stringThreshold"],
  ...["action", "address", "msg", "targets", "targetDeviceAttributes", "triggerId", "enable", "value"],
  ...["autoDisarm", "autoDelete", "autoDisable", "trait", "command", "params", "things", "thingId"],
];

const everything: Readonly<Record<string, string>> = {
  ...Object.fromEntries(otherParameters.map((name) => [name, canaries.secToken])),
  ...canaries,
};
const asForm = String(new URLSearchParams(everything));
const basic = btoa(`${canaries.access_token}:${canaries.client_secret}`);
const form = ["Content-Type", "application/x-www-form-urlencoded"] as const;
const json = ["Content-Type", "application/json"] as const;

/** Headers and bodies: each takes another path through the service. */
const loads: readonly Omit<WireRequest, "method" | "target">[] = [
  {},
  { headers: [["Authorization", `Bearer ${canaries.access_token}`]] },
  { headers: [["Authorization", `Bearer ${canaries.secToken}`]] },
  { headers: [["Authorization", `Basic ${basic}`]] },
  { headers: [["Authorization", canaries.client_secret]] },
  { headers: [["Cookie", `breezeway=${canaries.cookie}; __Host-breezeway=${canaries.cookie}; ${canaries.csrf}`]] },
  {
    headers: ["X-Request-Id", "X-Forwarded-For", "X-Forwarded-Host", "Forwarded", "Referer", "Origin", "User-Agent"]
      .concat(["Accept", "Accept-Language", "If-None-Match", "Range", "Last-Event-ID", "X-Api-Key", "Traceparent"])
      .map((name) => [name, canaries.access_token] as const),
  },
  { headers: [form], body: asForm },
  { headers: [form], body: `${asForm}&%${mark}` },
  { headers: [form], body: `secToken=${canaries.secToken}&secToken=${canaries.access_token}&${mark}` },
  { headers: [form], body: `client_id=${canaries.code}&client_secret=${canaries.client_secret}&grant_type=${mark}` },
  { headers: [json], body: JSON.stringify(everything) },
  { headers: [json], body: JSON.stringify(Object.fromEntries(Object.entries(everything).map(([a, b]) => [b, a]))) },
  { headers: [json], body: JSON.stringify({ secToken: [canaries.secToken], client_id: { [canaries.code]: 1 } }) },
  { headers: [json], body: `{"secToken": ${canaries.secToken}` },
  { headers: [json], body: `["${canaries.secToken}"]` },
  { headers: [["Content-Type", canaries.password]], body: canaries.password },
  { headers: [["Content-Type", `application/json; charset=${mark}`]], body: `"${canaries.password}"` },
  { headers: [form], body: `secToken=${canaries.secToken.repeat(1_500)}` },
];

const queries = [
  "",
  `?${asForm}`,
  `?${mark}`,
  `?${asForm}&x=%ZZ${mark}`,
  `?secToken=${canaries.secToken}&secToken=${canaries.access_token}&anAccessToken=${canaries.anAccessToken}`,
  `?state=${canaries.secToken.repeat(215)}`,
];

/** Every address, with a secret in place of each id. */
const addresses = new Set(everyAddress().map(({ path }) => path.replace(/(?<=\/):\w+/g, canaries.access_token)));

/** Near misses of addresses, and addresses that hold a secret. */
const strayAddresses = [
  ...[...everyPath().keys()].flatMap((path) => [path.slice(0, -1), `${path}/${canaries.secToken}`]),
  `/zdk/services/zamapi/${canaries.secToken}`,
  `/zdk/services/zamapi/%${mark}`,
  `/${canaries.code}`,
  `/${mark}/%ZZ`,
  `/v3/devices/%${mark}`,
  `//${mark}/v3/users`,
  `/v3/users;secToken=${canaries.secToken}`,
];

/** A secret in every place of every request: each address with each query and with each load, by each method. */
export function* requestsFullOfSecrets(): Iterable<WireRequest> {
  for (const target of addresses) {
    for (const method of ["GET", "POST", "PUT", "DELETE"]) {
      for (const query of queries) yield { method, target: target + query };
      for (const load of loads) {
        yield { method, target, ...load };
        if (method === "POST") yield { method, target: `${target}?${asForm}`, ...load };
      }
    }
    for (const method of ["PATCH", "OPTIONS", "PROPFIND"]) {
      yield { method, target: `${target}?${asForm}`, headers: [form], body: asForm };
    }
  }
  for (const target of strayAddresses) {
    for (const query of queries) yield { method: "GET", target: target + query };
    yield { method: "POST", target, headers: [form], body: asForm };
    yield { method: "PUT", target, headers: [json], body: JSON.stringify(everything) };
  }
}

/** Bytes that never become a request. */
export const brokenBytes: readonly Buffer[] = [
  `GET /livez HTTP/1.1\r\nHost: ${mark}\r\nExpect: ${mark}\r\nConnection: close\r\n\r\n`,
  `GET http://${mark}/?secToken=${canaries.secToken} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
  `GET /${mark} HTTP/9.9\r\nHost: a\r\n\r\n`,
  `${mark} / HTTP/1.1\r\nHost: a\r\n\r\n`,
  `GET /?${canaries.secToken.repeat(400)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
  `GET /livez HTTP/1.1\r\nHost: a\r\n${mark}\r\n\r\n`,
  `GET /livez HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${mark}\r\nAuthorization: Bearer ${mark}\r\nConnection: close\r\n\r\n`,
  `POST /oauth2/access_token HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${mark}\r\n`,
  `GET /v3/users?\xff${mark} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
].map((text) => Buffer.from(text, "latin1"));

/** A secret in plain text and as it would look in an address, in HTML, or in Basic. */
export function formsOf(secret: string): readonly string[] {
  const escaped = encodeURIComponent(secret);
  const inBase64 = [0, 1, 2].map((shift) => {
    const text = Buffer.from("\0".repeat(shift) + secret).toString("base64");
    // Its first and last characters depend on the surrounding text.
    return text.slice(shift === 0 ? 0 : 4, -4);
  });
  return [...new Set([secret, escaped, escaped.replaceAll("%20", "+"), ...inBase64])].filter((form) => form.length > 3);
}
