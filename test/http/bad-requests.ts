import type { WireRequest } from "../isolation/wire.ts";
import { badBodies, badMembers } from "./bad-bodies.ts";
import { type BadRequest, sent, strangeValues } from "./bad-request.ts";

/** All wrong versions of a right request. */
export function badVersionsOf(right: WireRequest): readonly BadRequest[] {
  const hasBody = !["GET", "HEAD"].includes(right.method);
  return [...badHeads(right), ...badQueries(right), ...(hasBody ? [...badBodies(right), ...badMembers(right)] : [])];
}

function badHeads(right: WireRequest): readonly BadRequest[] {
  const { headers = [], target } = right;
  const withHeaders = (...more: (readonly [string, string])[]) => ({ ...right, headers: [...headers, ...more] });
  return [
    { name: "two hosts", request: withHeaders(["Host", "a"], ["Host", sent]) },
    { name: "an empty host", request: withHeaders(["Host", ""]) },
    { name: "two authorizations", request: withHeaders(["Authorization", "x"], ["Authorization", `Bearer ${sent}`]) },
    { name: "a whole address as target", request: { ...right, target: `http://${sent}${target}` } },
    { name: "a NUL in the target", request: { ...right, target: `${target}\0${sent}` }, isNowhere: true },
    { name: "a raw byte in the target", request: { ...right, target: `${target}\xe9${sent}` }, isNowhere: true },
    { name: "a header without a colon", request: withHeaders([`${sent}\r\nX`, ""]), isNowhere: true },
    { name: "endless headers", request: withHeaders(["X-Long", sent.repeat(4_000)]), isNowhere: true },
    { name: "a length that isn't one", request: withHeaders(["Content-Length", `1${sent}`]), isNowhere: true },
    {
      name: "a length and chunks",
      request: withHeaders(["Content-Length", "1"], ["Transfer-Encoding", "chunked"]),
      isNowhere: true,
    },
    ...strangeAuthorizations.map((value) => ({
      name: `authorization ${JSON.stringify(value).slice(0, 40)}`,
      request: {
        ...right,
        headers: [...headers.filter(([name]) => name !== "Authorization"), ["Authorization", value] as const],
      },
      mayPass: true,
    })),
    { name: "an unknown expectation", request: withHeaders(["Expect", sent]), mayPass: true },
    { name: "an old version", request: { ...right, version: "1.0" }, mayPass: true },
  ];
}

const strangeAuthorizations = [
  ...[
    "",
    "Bearer",
    "Bearer ",
    `Bearer ${sent} ${sent}`,
    `Bearer "${sent}"`,
    `Bearer ${sent.repeat(300)}`,
    "Bearer \xff",
  ],
  ...[
    "Basic",
    "Basic ====",
    "Basic !",
    `Basic ${btoa(sent)}`,
    `Basic ${btoa("\0:\0")}`,
    `Basic ${btoa(`%ZZ:${sent}`)}`,
  ],
  ...[
    `Basic ${btoa("\xff\xfe:\xff")}`,
    `Basic ${btoa("%00:%00")}`,
    `Digest username="${sent}"`,
    sent,
    `${sent} ${sent}`,
  ],
];

const badEscapes = ["%", "%ZZ", "%2", "%C0%AF", "%ED%A0%80", "%FF", "%E2%82"];

function badQueries(right: WireRequest): readonly BadRequest[] {
  const { target } = right;
  const joint = target.includes("?") ? "&" : "?";
  const [path = "", query = ""] = target.split("?");
  const pairs = [...new URLSearchParams(query)];
  const withQuery = (changed: readonly (readonly [string, string])[]) => ({
    ...right,
    target: `${path}?${new URLSearchParams(changed.map(([name, value]) => [name, value]))}`,
  });
  return [
    ...badEscapes.flatMap((broken) => [
      { name: `${broken} in a value`, request: { ...right, target: `${target}${joint}x=${sent}${broken}` } },
      { name: `${broken} in a name`, request: { ...right, target: `${target}${joint}${sent}${broken}=x` } },
    ]),
    {
      name: "unknown parameters",
      request: { ...right, target: `${target}${joint}${sent}=1&x=${sent}` },
      mayPass: true,
    },
    {
      name: "names of every object",
      request: { ...right, target: `${target}${joint}__proto__=${sent}` },
      mayPass: true,
    },
    { name: "a long query", request: { ...right, target: `${target}${joint}x=${sent.repeat(600)}` }, mayPass: true },
    { name: "a long path", request: { ...right, target: `${path}${sent.repeat(600)}?${query}` }, isNowhere: true },
    { name: "a fragment", request: { ...right, target: `${path}#${sent}` }, mayPass: true },
    ...pairs.flatMap(([name]) => [
      { name: `${name} twice`, request: withQuery([...pairs, [name, sent]]), mayPass: name === "attribute" },
      ...strangeValues.map((value) => ({
        name: `${name} is ${JSON.stringify(value).slice(0, 40)}`,
        request: withQuery(pairs.map((pair) => (pair[0] === name ? [name, value] : pair))),
        mayPass: true,
      })),
    ]),
  ];
}
