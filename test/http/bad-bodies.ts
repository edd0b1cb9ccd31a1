import type { WireRequest } from "../isolation/wire.ts";
import { type BadRequest, sent, strangeValues } from "./bad-request.ts";

const form = ["Content-Type", "application/x-www-form-urlencoded"] as const;
const json = ["Content-Type", "application/json"] as const;

const chunked = ["Transfer-Encoding", "chunked"] as const;

const chunk = "x".repeat(16_000);
/** Built once, because they are sent to every address. */
const large = {
  form: Buffer.from(`x=${sent.repeat(70_000)}`),
  json: Buffer.from(`{"x":"${sent.repeat(70_000)}"}`),
  chunks: Buffer.from(`${`${chunk.length.toString(16)}\r\n${chunk}\r\n`.repeat(70)}0\r\n\r\n`),
  deepArray: Buffer.from("[".repeat(10_000) + "]".repeat(10_000)),
  deepMember: Buffer.from(`{"x":${"[".repeat(5_000)}${"]".repeat(5_000)}}`),
  deepObject: Buffer.from(`${'{"x":'.repeat(10_000)}1${"}".repeat(10_000)}`),
};

/** Bodies that are wrong as a whole, for every address. */
export function badBodies(right: WireRequest): readonly BadRequest[] {
  const withBody = (body: string | Buffer, ...headers: (readonly [string, string])[]) => ({
    ...right,
    headers: [...(right.headers ?? []).filter(([name]) => name !== "Content-Type"), ...headers],
    body,
  });
  // A read ignores the content of its body.
  const mayPass = right.method === "GET" && right.target.startsWith("/v3/");
  return [
    { name: "a megabyte of form", request: withBody(large.form, form) },
    { name: "a megabyte of JSON", request: withBody(large.json, json) },
    { name: "a megabyte in chunks", request: withBody(large.chunks, form, chunked) },
    { name: "a chunk without a length", request: withBody(`${sent}\r\n`, form, chunked), isNowhere: true },
    ...["{", '{"x":', "{'x':1}", '{"x":1,}', `{"x":${sent}}`, "NaN", `"${sent}`, "{}{}", '{"x":01}', "\u0001"].map(
      (text) => ({ name: `broken JSON ${text.slice(0, 12)}`, request: withBody(text, json) }),
    ),
    ...["null", "true", "7", `"${sent}"`, "[]", `["${sent}"]`, `[{"x":"${sent}"}]`].map((text) => ({
      name: `JSON that is no object: ${text.slice(0, 12)}`,
      request: withBody(text, json),
      mayPass,
    })),
    { name: "5,000 arrays deep in a member", request: withBody(large.deepMember, json), mayPass: true },
    { name: "10,000 arrays deep", request: withBody(large.deepArray, json), mayPass },
    {
      name: "10,000 objects deep",
      request: withBody(large.deepObject, json),
      mayPass: true,
    },
    ...[
      Buffer.from([0xc0, 0xaf]),
      Buffer.from([0xff, 0xfe]),
      Buffer.from([0xe2, 0x82]),
      Buffer.from([0xed, 0xa0, 0x80]),
    ].flatMap((bytes) => [
      {
        name: `bytes ${bytes.toString("hex")} in a form`,
        request: withBody(Buffer.concat([Buffer.from("x="), bytes]), form),
      },
      {
        name: `bytes ${bytes.toString("hex")} in JSON`,
        request: withBody(Buffer.concat([Buffer.from('{"x":"'), bytes, Buffer.from('"}')]), json),
      },
    ]),
    { name: "half an escape", request: withBody(`x=${sent}%E2%8`, form) },
    ...["text/plain", "application/xml", "multipart/form-data; boundary=x", "application/jsonp", "*/*", sent, ""].map(
      (type) => ({ name: `the content type ${type}`, request: withBody(`x=${sent}`, ["Content-Type", type]) }),
    ),
    { name: "no content type", request: withBody(`x=${sent}`) },
    {
      name: "another charset",
      request: withBody(Buffer.from(`{"x":"${sent}"}`, "utf16le"), [
        "Content-Type",
        "application/json; charset=utf-16le",
      ]),
    },
    {
      name: "an old charset",
      request: withBody(Buffer.from("x=\xe9", "latin1"), [form[0], `${form[1]}; charset=iso-8859-1`]),
    },
    {
      name: "a compressed body",
      request: withBody(Buffer.from("1f8b0800", "hex"), json, ["Content-Encoding", "gzip"]),
    },
  ];
}

/** Each member in turn is wrong, in a form and in JSON; the others stay right. */
export function badMembers(right: WireRequest): readonly BadRequest[] {
  const { headers = [], body = "" } = right;
  const type = headers.find(([name]) => name === "Content-Type")?.[1];
  const withBody = (changed: string) => ({ ...right, body: changed });
  if (type === form[1]) {
    const pairs = [...new URLSearchParams(String(body))];
    const written = (changed: readonly (readonly [string, string])[]) =>
      withBody(String(new URLSearchParams(changed.map(([name, value]) => [name, value]))));
    return pairs.flatMap(([name]) => [
      { name: `${name} twice`, request: written([...pairs, [name, sent]]) },
      { name: `${name} also in the address`, request: inAddressToo(right, name), mayPass: true },
      ...strangeValues.map((value) => ({
        name: `${name} is ${JSON.stringify(value).slice(0, 40)}`,
        request: written(pairs.map((pair) => (pair[0] === name ? [name, value] : pair))),
        mayPass: true,
      })),
    ]);
  }
  if (type !== json[1]) return [];
  const members = JSON.parse(String(body)) as Record<string, unknown>;
  return Object.keys(members).flatMap((name) => {
    const withValue = (text: string) => {
      const others = Object.entries(members).filter(([other]) => other !== name);
      const kept = others.map(([other, value]) => `${JSON.stringify(other)}:${JSON.stringify(value)}`);
      return withBody(`{${[...kept, `${JSON.stringify(name)}:${text}`].join(",")}}`);
    };
    return [
      ...[`["${sent}"]`, `{"${sent}":"${sent}"}`, `[["${sent}"]]`].map((text) => ({
        name: `${name} is of another type: ${text.slice(0, 3)}`,
        request: withValue(text),
      })),
      ...["true", "1.5", "1e400", "-0", "null", '""', "12345678901234567890"].map((text) => ({
        name: `${name} is ${text}`,
        request: withValue(text),
        mayPass: true,
      })),
      ...["\\ud800", "\\udc00\\ud800"].map((half) => ({
        name: `${name} holds ${half}`,
        request: withValue(`"${sent}${half}"`),
      })),
      // No secret holds a NUL, but its hash can be computed: it may be treated as unknown.
      { name: `${name} holds a NUL`, request: withValue(`"${sent}\\u0000"`), mayPass: true },
      { name: `${name} twice`, request: withBody(String(body).replace("{", `{${JSON.stringify(name)}:"${sent}",`)) },
      ...["__proto__", "constructor", sent].flatMap((extra) =>
        [`{"${sent}":["${sent}"]}`, `"${sent}"`].map((text) => ({
          name: `${name} beside ${extra}: ${text.slice(0, 1)}`,
          request: withBody(String(body).replace("{", `{"${extra}":${text},`)),
          mayPass: true,
        })),
      ),
    ];
  });
}

function inAddressToo(right: WireRequest, name: string): WireRequest {
  return { ...right, target: `${right.target}${right.target.includes("?") ? "&" : "?"}${name}=${sent}` };
}
