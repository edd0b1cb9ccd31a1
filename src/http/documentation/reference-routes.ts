import { jsonAnswer, pageAnswer } from "../answer/answer.ts";
import type { Route } from "../routes.ts";
import { openApiDocument } from "./openapi.ts";
import { referencePage } from "./reference/reference-page.ts";
import { getOpenApi, getReference } from "./reference-descriptions.ts";

export interface ReferenceParts {
  readonly version: string;
  /** Known once the port is. */
  readonly baseUrl: () => string;
  /** All routes, these two among them. */
  readonly routes: () => readonly Route[];
}

/** How the service describes itself: `/openapi.json` for programs, `/docs` for people. Each is made once and kept. */
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

function once<Made>(make: () => Made): () => Made {
  let made: { readonly value: Made } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
