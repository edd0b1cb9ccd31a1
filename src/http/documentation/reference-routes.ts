import { jsonAnswer, pageAnswer } from "../answer/answer.ts";
import type { Route } from "../routes.ts";
import { openApiDocument } from "./openapi.ts";
import { referencePage } from "./reference/reference-page.ts";
import { getOpenApi, getReference } from "./reference-descriptions.ts";

export interface ReferenceParts {
  readonly version: string;
  /** Known when the port is known. */
  readonly baseUrl: () => string;
  /** All routes, these two among them. */
  readonly routes: () => readonly Route[];
}

/** The service's own documentation: `/openapi.json` for programs, `/docs` for people. Each is made once and cached. */
export function referenceRoutes({ version, baseUrl, routes }: ReferenceParts): readonly Route[] {
  const document = once(() => jsonAnswer(200, openApiDocument(routes(), { version, baseUrl: baseUrl() })));
  const page = once(() => pageAnswer(200, referencePage(routes(), { version, baseUrl: baseUrl() })));
  return [
    {
      methods: ["GET"],
      path: "/openapi.json",
      access: "public",
      errors: "standard",
      description: getOpenApi,
      answer: async () => document(),
    },
    {
      methods: ["GET"],
      path: "/docs",
      access: "public",
      errors: "standard",
      description: getReference,
      answer: async () => page(),
    },
  ];
}

function once<Value>(make: () => Value): () => Value {
  let cached: { readonly value: Value } | undefined;
  return () => {
    cached ??= { value: make() };
    return cached.value;
  };
}
