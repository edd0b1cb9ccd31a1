import type { Method } from "../../routes.ts";
import { accessOf } from "../access-descriptions.ts";
import { type Described, takesBody } from "../described-route.ts";
import type { Parameter } from "../description.ts";

/** A call as one would make it: what the page's ready commands are written from. */
export interface SampleRequest {
  readonly method: Method;
  readonly path: string;
  readonly query: readonly SampleValue[];
  readonly form: readonly SampleValue[];
  readonly json: unknown;
  /** By which scheme of the Authorization header the caller proves itself. */
  readonly authorization: { readonly scheme: "Bearer" | "Basic"; readonly variables: readonly string[] } | undefined;
}

/** A value that can be seen, or the variable of the shell that holds a secret. */
export type SampleValue = { readonly name: string } & ({ readonly value: string } | { readonly variable: string });

/** None where a required value has no example: only our own pages can send it. */
export function sampleRequest(described: Described): SampleRequest | undefined {
  const { methods, path, access, errors, description } = described;
  const { parameters = [], body } = description;
  if (parameters.some((one) => one.isRequired && sampleValue(one).length === 0)) return undefined;
  // A secret in an address stays in logs and histories.
  const isSecretInParameters = errors === "fault" && methods.includes("POST");
  const method = isSecretInParameters ? "POST" : methods[0]!;
  const isInBody = ({ in: place }: Parameter) => place === "body" || (place !== "query" && takesBody(method));
  const sent = [...(errors === "fault" ? accessOf(described).credentials : []), ...parameters].filter(
    ({ in: place }) => place !== "path" && place !== "header",
  );
  return {
    method,
    path: withExamples(path, parameters),
    query: sent.filter((parameter) => !isInBody(parameter)).flatMap(sampleValue),
    form: sent.filter(isInBody).flatMap(sampleValue),
    json: body?.example,
    authorization: errors === "fault" ? undefined : authorizations[access],
  };
}

const authorizations: Readonly<Record<Described["access"], SampleRequest["authorization"]>> = {
  public: undefined,
  secToken: { scheme: "Bearer", variables: ["SEC_TOKEN"] },
  bearer: { scheme: "Bearer", variables: ["ACCESS_TOKEN"] },
  secTokenOrBearer: { scheme: "Bearer", variables: ["SEC_TOKEN"] },
  client: { scheme: "Basic", variables: ["CLIENT_ID", "CLIENT_SECRET"] },
};

function sampleValue({ name, example, variable }: Parameter): readonly SampleValue[] {
  if (variable !== undefined) return [{ name, variable }];
  return example === undefined ? [] : [{ name, value: example }];
}

function withExamples(path: string, parameters: readonly Parameter[]): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => parameters.find((one) => one.name === name)?.example ?? name);
}
