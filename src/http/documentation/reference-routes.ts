import { type Answer, jsonAnswer, pageAnswer } from "../answer/answer.ts";
import type { Route } from "../routes.ts";
import type { Description, TagName } from "./description.ts";
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
  const deployment = () => ({ version, baseUrl: baseUrl() });
  return [
    routeOf("/openapi.json", getOpenApi, () => jsonAnswer(200, openApiDocument(routes(), deployment()))),
    routeOf("/docs", getReference, () => pageAnswer(200, referencePage(forClients(routes()), deployment()))),
  ];
}

/** The page is for those who write clients: what operators call is in the OpenAPI document alone. */
function forClients(routes: readonly Route[]): readonly Route[] {
  return routes.filter((route) => route.access === "operation" || !operatorsTags.includes(route.description.tag));
}

const operatorsTags: readonly TagName[] = ["Administration", "Console pages"];

function routeOf(path: string, description: Description, make: () => Answer): Route {
  let cached: Answer | undefined;
  const answer = async () => {
    cached ??= make();
    return cached;
  };
  return { methods: ["GET"], path, access: "public", errors: "standard", description, answer };
}
