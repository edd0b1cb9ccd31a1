import { ndjsonBody } from "../../request/body-types.ts";
import type { Method } from "../../routes.ts";
import { accessOf } from "../access-descriptions.ts";
import { type DescribedRoute, takesBody } from "../described-route.ts";
import type { Parameter } from "../description.ts";

/** An example request, from which the commands on the page are made. */
export interface SampleRequest {
  readonly method: Method;
  readonly path: string;
  readonly query: readonly SampleValue[];
  readonly form: readonly SampleValue[];
  readonly json: unknown;
  /** A body with one JSON value in each line. */
  readonly lines?: string | undefined;
  /** The scheme and the shell variables of the Authorization header. */
  readonly authorization: { readonly scheme: "Bearer" | "Basic"; readonly variables: readonly string[] } | undefined;
}

/** A literal value, or the shell variable that holds a secret. */
export type SampleValue = { readonly name: string } & ({ readonly value: string } | { readonly variable: string });

/** Undefined when a required parameter has no example, because only the service's own pages can send it. */
export function sampleRequest(described: DescribedRoute): SampleRequest | undefined {
  const { methods, path, access, errorShape, description } = described;
  const { parameters = [], body } = description;
  if (parameters.some((one) => one.isRequired && sampleValue(one).length === 0)) return undefined;
  // Platform calls answer with faults, and take credentials as parameters.
  const isPlatformCall = errorShape === "fault";
  // POST, because a secret in an address would end up in logs and histories.
  const method = isPlatformCall && methods.includes("POST") ? "POST" : methods[0]!;
  const isInBody = ({ in: place }: Parameter) => place === "body" || (place !== "query" && takesBody(method));
  const sent = [...(isPlatformCall ? accessOf(described).credentials : []), ...parameters].filter(
    ({ in: place }) => place !== "path" && place !== "header",
  );
  return {
    method,
    path: withExamples(path, parameters),
    query: sent.filter((parameter) => !isInBody(parameter)).flatMap(sampleValue),
    form: sent.filter(isInBody).flatMap(sampleValue),
    ...(body?.contentType === ndjsonBody
      ? { json: undefined, lines: String(body.example).trimEnd() }
      : { json: body?.example }),
    authorization: isPlatformCall ? undefined : authorizations[access],
  };
}

const authorizations: Readonly<Record<DescribedRoute["access"], SampleRequest["authorization"]>> = {
  public: undefined,
  secToken: { scheme: "Bearer", variables: ["SEC_TOKEN"] },
  bearer: { scheme: "Bearer", variables: ["ACCESS_TOKEN"] },
  secTokenOrBearer: { scheme: "Bearer", variables: ["SEC_TOKEN"] },
  client: { scheme: "Basic", variables: ["CLIENT_ID", "CLIENT_SECRET"] },
  operator: { scheme: "Bearer", variables: ["OPERATOR_TOKEN"] },
};

function sampleValue({ name, example, variable }: Parameter): readonly SampleValue[] {
  if (variable !== undefined) return [{ name, variable }];
  return example === undefined ? [] : [{ name, value: example }];
}

function withExamples(path: string, parameters: readonly Parameter[]): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => parameters.find((one) => one.name === name)?.example ?? name);
}
