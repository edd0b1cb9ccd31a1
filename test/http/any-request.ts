import fc from "fast-check";
import type { Things } from "../isolation/calls.ts";
import { everyAddress, everyPath } from "../isolation/every-address.ts";
import type { HeaderLines, WireRequest } from "../isolation/wire.ts";
import { anyCharacter } from "../set-up/any-character.ts";

export interface AnyKeys {
  readonly bearer: string;
  readonly secToken: string;
  readonly client: { readonly id: string; readonly secret: string };
}

/** Random requests: every address and near misses, with any mixture of right and wrong parts. */
export function anyRequest(things: Things, keys: AnyKeys): fc.Arbitrary<WireRequest> {
  const { bearer, secToken, client } = keys;
  const { userId, lampId, linkedId, thingId, commandId, clientId, userName, refreshToken } = things;
  const text = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 20 }),
    fc.string({ unit: "grapheme", maxLength: 20 }),
    fc.constantFrom("", "0", "-1", "01", "1.0", "1e3", "2147483648", "18446744073709551616", "NaN", "true", "null"),
    fc.constantFrom(
      "__proto__",
      "constructor",
      "toString",
      "code",
      "nest",
      "accept",
      "S256",
      "Lamp",
      "EcosystemAccount",
    ),
    fc.constantFrom(userId, lampId, linkedId, thingId, commandId, clientId, userName, refreshToken, secToken, "1"),
    fc.constant(client.secret),
    fc.constantFrom("authorization_code", "refresh_token", "client_credentials", "o.totalStructures"),
  );
  const name = fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...parameterNames) }, { weight: 1, arbitrary: text });
  const pairs = fc.array(fc.tuple(name, text), { maxLength: 8 });
  const right = fc.subarray([
    ["secToken", secToken],
    ["client_id", client.id],
    ["client_secret", client.secret],
    ["anEcosystemName", "nest"],
    ["id", linkedId],
    ["devId", lampId],
    ["grant_type", "refresh_token"],
  ] as [string, string][]);
  const allPairs = fc.tuple(right, pairs).map(([some, others]) => [...some, ...others]);
  const written = fc.oneof({ weight: 4, arbitrary: allPairs.map(encoded) }, { weight: 1, arbitrary: rawText });

  const path = fc
    .tuple(fc.constantFrom(...paths), text, fc.constantFrom("", "", "", "", "/", "/x", "%2f", ";x", ".."))
    .map(([pattern, id, end]) => pattern.replace(/(?<=\/):\w+/g, () => encodedText(id)) + end);
  const target = fc
    .tuple(path, fc.option(written, { nil: undefined }))
    .map(([where, query]) => (query === undefined ? where : `${where}?${query}`));

  const body = fc.oneof(
    fc.constant(undefined),
    written.map((form) => ({ type: "application/x-www-form-urlencoded", content: form })),
    allPairs.map((members) => ({ type: "application/json", content: JSON.stringify(Object.fromEntries(members)) })),
    fc.json({ maxDepth: 4 }).map((content) => ({ type: "application/json", content })),
    fc
      .dictionary(text, fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null)), { maxKeys: 4 })
      .map((members) => ({
        type: "application/json",
        content: JSON.stringify(members),
      })),
    fc.tuple(fc.constantFrom(...contentTypes), fc.uint8Array({ maxLength: 200, size: "max" })).map(([type, bytes]) => ({
      type,
      content: Buffer.from(bytes),
    })),
  );
  const authorization = fc.oneof(
    fc.constant(undefined),
    fc.constantFrom(`Bearer ${bearer}`, `Bearer ${secToken}`, `Basic ${btoa(`${client.id}:${client.secret}`)}`),
    fc.base64String({ maxLength: 40 }).map((sent) => `Basic ${sent}`),
    fc.string({ maxLength: 40 }).map((sent) => `Bearer ${sent}`),
  );
  return fc
    .record({ method: fc.constantFrom(...methods), target, authorization, body })
    .map(({ method, target, authorization, body }) => {
      const headers: HeaderLines = [
        ...(authorization === undefined ? [] : [["Authorization", authorization] as const]),
        ...(body === undefined ? [] : [["Content-Type", body.type] as const]),
      ];
      return { method, target, headers, body: body?.content };
    });
}

const paths = [
  ...new Set([...everyAddress().map(({ path }) => path), ...everyPath().keys(), "/", "/v3", "/oauth2/token"]),
];
const methods = ["GET", "GET", "POST", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS", "QUERY"];
const parameterNames = [
  ...[
    "secToken",
    "anEcosystemName",
    "anAccessToken",
    "id",
    "name",
    "password",
    "appId",
    "userId",
    "devId",
    "deviceTypeId",
  ],
  ...["response_type", "client_id", "client_secret", "state", "redirect_uri", "scope", "code_challenge", "grant_type"],
  ...["code_challenge_method", "code", "code_verifier", "refresh_token", "token", "token_type_hint", "transaction"],
  ...["csrf", "username", "decision", "access_token", "cursor", "deviceTypeName", "attribute", "since"],
  ...["deviceId", "from", "to", "lastEventId", "url", "deviceIds", "attributes", "attrName", "operation", "threshold"],
  ...["stringThreshold", "action", "address", "msg", "targets", "targetDeviceAttributes", "triggerId", "enable"],
  ...["name1", "value1", "name2", "value2", "value", "autoDisarm", "autoDelete", "autoDisable"],
];
const contentTypes = [
  ...["application/json", "application/x-www-form-urlencoded", "application/json; charset=utf-16", "text/plain", ""],
  ...[
    "application/json;",
    "application/json; x",
    "APPLICATION/JSON",
    "multipart/form-data",
    "x",
    "a/b; =",
    "application/*",
  ],
];

/** Characters that a request line can carry, whatever they mean. */
const rawText = fc.string({
  unit: fc.constantFrom(..."abc019%&=+;?/#:@!$'()*,[]~._-{}|^\"<>\\`"),
  maxLength: 40,
  size: "max",
});

function encoded(pairs: readonly (readonly [string, string])[]): string {
  return pairs.map(([name, value]) => `${encodedText(name)}=${encodedText(value)}`).join("&");
}

/** Half of a surrogate pair can't be encoded. */
function encodedText(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
