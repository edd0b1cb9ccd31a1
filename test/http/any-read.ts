import fc from "fast-check";

export interface AskedDevices {
  readonly own: number;
  readonly linked: number;
  readonly ended: number;
  readonly foreign: number;
}

type Lines = readonly string[];

/** Random reads of devices: as clients and proxies send them, and malformed ones; most are nearly plain. */
export function anyRead({ own, linked, ended, foreign }: AskedDevices): fc.Arbitrary<string> {
  const id = fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(own, linked).map(String) },
    {
      weight: 3,
      arbitrary: fc.constantFrom(ended, foreign, 999, 0, -1, 2147483647, 2147483648, 99999999999).map(String),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom("", "x", "1.0", "1e0", " 1", `0${own}`, `+${own}`, `%3${own}`, `${own};x`),
    },
  );
  const end = fc.oneof(
    { weight: 12, arbitrary: fc.constant("") },
    {
      weight: 2,
      arbitrary: fc.constantFrom("/", "?", "?since=0", "?attribute=on", "?access_token=alice", "?%zz", "#x", "%2f"),
    },
  );
  const start = fc.oneof(
    { weight: 12, arbitrary: fc.constant("/v3/devices/") },
    { weight: 1, arbitrary: fc.constantFrom("//v3/devices/", "/V3/devices/", "/v3//devices/", "http://a/v3/devices/") },
  );
  const method = fc.oneof(
    { weight: 12, arbitrary: fc.constant("GET") },
    { weight: 2, arbitrary: fc.constantFrom("HEAD", "PUT", "POST", "OPTIONS", "DELETE", "QUERY") },
  );
  const version = fc.oneof({ weight: 12, arbitrary: fc.constant("1.1") }, { weight: 1, arbitrary: fc.constant("1.0") });
  const host: fc.Arbitrary<Lines> = fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(["Host: a"], ["host: a:80"], ["HOST:a"]) },
    { weight: 1, arbitrary: fc.constantFrom([], ["Host:"], ["Host: a", "host: b"]) },
  );
  const right = fc.constantFrom(
    "Authorization: Bearer alice",
    "authorization: Bearer alice",
    "AUTHORIZATION:Bearer alice ",
  );
  const authorization: fc.Arbitrary<Lines> = fc.oneof(
    { weight: 16, arbitrary: right.map((line) => [line]) },
    {
      weight: 4,
      arbitrary: fc
        .constantFrom("bearer alice", "BEARER alice", "Bearer  alice", "Bearer\talice", "Bearer alice bob", "Bearer")
        .map((value) => [`Authorization: ${value}`]),
    },
    {
      weight: 4,
      arbitrary: fc
        .constantFrom(
          "Bearer bob",
          "Bearer acme",
          "Bearer other",
          "Bearer nobody",
          "Basic YTpi",
          "Bearer \xe9",
          "alice",
        )
        .map((value) => [`Authorization: ${value}`]),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom("store-down", "broken").map((token) => [`Authorization: Bearer ${token}`]),
    },
    { weight: 2, arbitrary: fc.constantFrom([], ["Authorization: Bearer alice", "authorization: Bearer alice"]) },
  );
  const besides = fc.uniqueArray(fc.constantFrom(...plainLines, ...plainLines, ...oddLines), { maxLength: 3 });
  return fc
    .record({ method, start, id, end, version, host, authorization, besides })
    .map(({ method, start, id, end, version, host, authorization, besides }) => {
      const lines = [...host, ...authorization, ...besides].map((line) => `${line}\r\n`);
      const body = besides.includes("Transfer-Encoding: chunked") ? "0\r\n\r\n" : "";
      return `${method} ${start}${id}${end} HTTP/${version}\r\n${lines.join("")}\r\n${body}`;
    });
}

/** Headers that don't change the answer. */
const plainLines = [
  "Accept: application/json",
  "Accept-Encoding: gzip, br",
  "User-Agent: a client",
  "If-None-Match: *",
  "If-Modified-Since: Sat, 29 Oct 1994 19:43:31 GMT",
  "Range: bytes=0-1",
  "Cookie: a=b",
  "X-Request-Id: mine",
  "X-Forwarded-For: 203.0.113.9",
  "X-Forwarded-For: nonsense",
  "X-Forwarded-Proto: https",
  "Via: 1.1 proxy",
  "X-Repeats-Reads: true",
  "Last-Event-ID: 7",
  "Connection: keep-alive",
  "Content-Type: text/xml",
];

/** Headers that may change the answer. */
const oddLines = [
  "Origin: https://app.example",
  "Origin: https://evil.example",
  "Connection: close",
  "Connection: Upgrade\r\nUpgrade: h2c",
  "Content-Length: 0",
  "Content-Encoding: gzip",
  "Transfer-Encoding: chunked",
  "Expect: 100-continue",
  "Expect: something",
  "TE: trailers",
  "Trailer: X-Last",
];
