import type { Method, Route } from "../routes.ts";
import { accessOf, type SecurityScheme } from "./access-descriptions.ts";
import { errorContents } from "./common-errors.ts";
import { Components } from "./components.ts";
import {
  bodyParameters,
  contentTypesOf,
  type DescribedRoute,
  describedRoutes,
  errorsOf,
  takesBody,
} from "./described-route.ts";
import type { AnswerDescription, ContentDescription, ErrorDescription, Parameter } from "./description.ts";
import { securitySchemes } from "./security-schemes.ts";
import { tags } from "./tags.ts";
import { xmlExampleValue } from "./xml-example.ts";

export interface Deployment {
  readonly version: string;
  readonly baseUrl: string;
}

/** The OpenAPI 3.1 document of these routes. */
export function openApiDocument(routes: readonly Route[], { version, baseUrl }: Deployment) {
  const components = new Components();
  const paths: Record<string, Record<string, object>> = {};
  for (const described of describedRoutes(routes)) {
    const operations = described.methods.map((method) => [
      method.toLowerCase(),
      operation(described, method, components),
    ]);
    paths[described.path] = { ...paths[described.path], ...Object.fromEntries(operations) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Breezeway",
      version,
      summary: "Cloud-to-cloud integration for homes.",
      description:
        "An OAuth 2.0 authorization server, users and devices, and a live mirror of accounts in third-party home ecosystems. Where a path takes GET it takes HEAD too, except event streams and platform calls.",
      contact: { name: "The operator of this deployment", url: baseUrl },
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: baseUrl }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: components.schemas,
      headers: {
        RequestId: {
          description: "The request's id, as it stands in the service's log.",
          schema: { type: "string", format: "uuid" },
        },
      },
      securitySchemes: securitySchemes(baseUrl),
    },
  };
}

function operation(described: DescribedRoute, method: Method, components: Components): object {
  const { description, methods } = described;
  const access = accessOf(described);
  const suffix = method === methods[0] ? "" : `By${method[0]}${method.slice(1).toLowerCase()}`;
  const body = takesBody(method) ? requestBody(described, components) : undefined;
  return {
    operationId: `${description.operationId}${suffix}`,
    tags: [description.tag],
    summary: description.summary,
    description: description.words.join("\n\n"),
    parameters: (description.parameters ?? []).flatMap((parameter) => parameterOf(parameter, method)),
    ...(body && { requestBody: body }),
    responses: responses(described, method, components),
    security: securityOf(described, access.schemes, access.credentials.length > 0 && takesBody(method)),
  };
}

/** OpenAPI has no scheme for credentials in a body: `{}` says that the request may come without one. */
function securityOf(
  { scopes }: DescribedRoute,
  schemes: readonly SecurityScheme[],
  mayBeInBody: boolean,
): readonly object[] {
  const each = schemes.map((scheme) => ({ [scheme]: scheme === "accessToken" ? scopes : [] }));
  return mayBeInBody ? [...each, {}] : each;
}

function parameterOf(parameter: Parameter, method: Method): readonly object[] {
  const { name, in: place, isRequired, isRepeatable, schema, meaning, example } = parameter;
  if (place === "body" || place === "form") return [];
  const isBetterInBody = place !== "path" && place !== "header" && place !== "query" && takesBody(method);
  const shownExample = schema.type === "integer" ? Number(example) : example;
  return [
    {
      name,
      in: place === "path" || place === "header" ? place : "query",
      required: isRequired && !isBetterInBody,
      description: isBetterInBody ? `${meaning} Here or, better, in the body.` : meaning,
      schema: isRepeatable ? { type: "array", items: schema } : schema,
      ...(isRepeatable && { style: "form", explode: true }),
      ...(example !== undefined && { example: isRepeatable ? [shownExample] : shownExample }),
    },
  ];
}

function requestBody(described: DescribedRoute, components: Components): object | undefined {
  const { body } = described.description;
  if (body) return { required: true, content: contentOf(body, components) };
  const parameters = bodyParameters(described);
  if (parameters.length === 0) return undefined;
  const required = parameters.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const schema = {
    type: "object",
    properties: Object.fromEntries(
      parameters.map(({ name, schema, meaning }) => [name, { ...schema, description: meaning }]),
    ),
    ...(required.length > 0 && { required }),
  };
  return {
    // If all parameters may come in the address, the body is optional.
    required: parameters.some(({ in: place }) => place === "form" || place === "body"),
    content: Object.fromEntries(contentTypesOf(parameters).map((type) => [type, { schema }])),
  };
}

function responses(described: DescribedRoute, method: Method, components: Components): object {
  const { answers } = described.description;
  const successes = answers.map((answer) => [answer.status, response(answer, method, components)] as const);
  const failures = [...Map.groupBy(errorsOf(described), ({ status }) => status)].map(
    ([status, errors]) => [status, refusal(inWords(errors), described.errorShape, method, components)] as const,
  );
  const otherwise = refusal("The request was refused.", described.errorShape, method, components);
  const hasOwn = failures.some(([status]) => status >= 400 && status < 500);
  return {
    ...Object.fromEntries([...successes, ...failures]),
    ...(!hasOwn && { "4XX": otherwise }),
    default: otherwise,
  };
}

/** Without an example: each refusal has its own sentence, so one example for all would be wrong. */
function refusal(meaning: string, shape: DescribedRoute["errorShape"], method: Method, components: Components): object {
  const { contentType, schema } = errorContents[shape];
  return response({ meaning, content: { contentType, schema } }, method, components);
}

type ResponseDescription = Omit<AnswerDescription, "status">;

function response({ meaning, headers, content }: ResponseDescription, method: Method, components: Components): object {
  const shownHeaders = Object.entries(headers ?? {}).map(([name, { description = "", ...schema }]) => [
    name,
    { description, schema },
  ]);
  return {
    description: meaning,
    headers: { "X-Request-Id": { $ref: "#/components/headers/RequestId" }, ...Object.fromEntries(shownHeaders) },
    ...(content && method !== "HEAD" && { content: contentOf(content, components) }),
  };
}

function contentOf({ contentType, schema, example }: ContentDescription, components: Components): object {
  const value =
    contentType === "text/xml" && example !== undefined ? xmlExampleValue(schema, String(example)) : example;
  return { [contentType]: { schema: components.refer(schema), ...(value !== undefined && { example: value }) } };
}

function inWords(errors: readonly ErrorDescription[]): string {
  return errors.map(({ code, when }) => `\`${code}\`: ${when}`).join("\n\n");
}
