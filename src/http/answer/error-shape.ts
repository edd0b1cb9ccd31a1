/**
 * The format of an error. `standard`: the error object of /v3 and /oauth2. `adaptor`: a number and a sentence in JSON.
 * `fault`: the same in the XML of platform calls. `page`: HTML for a person.
 */
export type ErrorShape = "standard" | "adaptor" | "fault" | "page";

const shapes: Readonly<Record<string, ErrorShape>> = { zdk: "fault", adaptor: "adaptor", acc: "adaptor" };

/**
 * The format of errors for a request target without a route: an unknown path, a wrong method, an unreadable head.
 * Clients of the platform calls and of the adaptor parse one format only, so every answer below their paths has it.
 */
export function shapeBelow(target: string): ErrorShape {
  const [, first = ""] = /^(?:https?:\/\/[^/]*)?\/(\w+)(?:[/?#]|$)/.exec(target) ?? [];
  return Object.hasOwn(shapes, first) ? shapes[first]! : "standard";
}
