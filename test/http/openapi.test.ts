import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { errorContents } from "../../src/http/documentation/common-errors.ts";
import { describedRoutes } from "../../src/http/documentation/described-route.ts";
import type { Description } from "../../src/http/documentation/description.ts";
import { openApiDocument } from "../../src/http/documentation/openapi.ts";
import { accessRules, type Route, type RouteAccess } from "../../src/http/routes.ts";
import { type OpenApi, operationsOf, Schemas } from "./documented-answers/described-answers.ts";
import { madeTable } from "./made-table.ts";

const deployment = { version: "1.2.3", baseUrl: "https://breezeway.example" };

/** The document as a client gets it. */
const written = (routes: readonly Route[]): OpenApi => JSON.parse(JSON.stringify(openApiDocument(routes, deployment)));
const document = written(madeTable());
const operations = operationsOf(document);

describe("the OpenAPI document", () => {
  it("is valid OpenAPI 3.1", async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    assert.ok(valid, JSON.stringify(errors));
    assert.equal(document.openapi, "3.1.0");
  });

  it("names the deployment", () => {
    assert.equal(document.info.version, "1.2.3");
    assert.deepEqual(document.servers, [{ url: "https://breezeway.example" }]);
    const { authorizationCode } = document.components.securitySchemes.accessToken.flows;
    assert.equal(authorizationCode.authorizationUrl, "https://breezeway.example/oauth2/authorize");
    assert.equal(authorizationCode.tokenUrl, "https://breezeway.example/oauth2/access_token");
  });

  it("describes each route of the table, with all its methods, and nothing else", () => {
    const inTable = madeTable().flatMap((route) => {
      const paths =
        route.access === "operation"
          ? route.descriptions.map(({ operation }) => route.path.replace(":operation", operation))
          : [route.path.replace(/(?<=\/):(\w+)/g, "{$1}")];
      return paths.flatMap((path) => route.methods.map((method) => `${method} ${path}`));
    });
    assert.deepEqual(operations.map(({ method, path }) => `${method} ${path}`).sort(), inTable.sort());
  });

  it("names each operation once, and puts it under a tag with a description", () => {
    const ids = operations.map(({ operationId }) => operationId);
    assert.deepEqual(ids, [...new Set(ids)]);
    const tags = document.tags.map(({ name }: { name: string }) => name);
    for (const { operationId, tags: own } of operations as OpenApi[]) {
      assert.ok(own.length === 1 && tags.includes(own[0]), operationId);
    }
  });

  it("has a target for every reference", () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map(([, reference]) => reference!);
    assert.ok(references.length > 50);
    for (const reference of references) {
      const found = reference
        .replace(/^#\//, "")
        .split("/")
        .reduce((at, name) => at?.[name], document);
      assert.ok(found, reference);
    }
  });

  it("describes exactly the parameters in a path", () => {
    for (const { path, operationId, parameters } of operations as OpenApi[]) {
      const inPath = parameters.filter((one: OpenApi) => one.in === "path").map((one: OpenApi) => one.name);
      assert.deepEqual(
        inPath,
        [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
        operationId,
      );
    }
  });

  it("gives examples that fit their schemas", () => {
    const schemas = new Schemas(document);
    let count = 0;
    const check = (content: Readonly<Record<string, OpenApi>>, where: string) => {
      for (const { schema, example } of Object.values(content)) {
        if (example === undefined) continue;
        schemas.assertFits(schema, example, where);
        count++;
      }
    };
    for (const { operationId, parameters, requestBody, responses } of operations as OpenApi[]) {
      for (const [status, { content = {} }] of Object.entries<OpenApi>(responses))
        check(content, `${operationId} ${status}`);
      check(requestBody?.content ?? {}, `${operationId} body`);
      for (const { name, schema, example } of parameters) {
        if (example !== undefined) schemas.assertFits(schema, example, `${operationId} ${name}`);
      }
    }
    assert.ok(count > 20, `${count} examples`);
  });

  it("gives the values of the XML examples that the page shows", () => {
    const schemas = new Schemas(document);
    const byId = new Map(operations.map((operation) => [operation.operationId, operation]));
    const shown = describedRoutes(madeTable()).filter(({ errorShape }) => errorShape === "fault");
    for (const { description } of shown) {
      const { schema, example } = byId.get(description.operationId)!.responses[200].content["text/xml"];
      const text = String(description.answers[0]!.content!.example);
      assert.deepEqual(example, schemas.read(schema, "text/xml", text), description.operationId);
    }
    assert.ok(shown.length > 10);
  });

  it("has examples of refusals, on the page, that fit their schemas", () => {
    const schemas = new Schemas(document);
    for (const { contentType, schema, example } of Object.values(errorContents)) {
      const body = contentType === "application/json" ? JSON.stringify(example) : String(example);
      schemas.assertFits(schema, schemas.read(schema, contentType, body), contentType);
    }
  });

  it("describes each kind of refusal in one place", () => {
    for (const { operationId, responses } of operations) {
      const { content } = responses.default;
      const [type] = Object.keys(content ?? {});
      if (type && type !== "text/html") assert.ok(content[type].schema.$ref, operationId);
      assert.ok(["application/json", "text/xml", "text/html", undefined].includes(type), operationId);
    }
  });

  it("holds no usable secret", () => {
    assert.doesNotMatch(JSON.stringify(document), /bw[ars]_[A-Za-z0-9_-]/);
  });
});

describe("the access rule of an operation", () => {
  const described: Description = {
    operationId: "one",
    tag: "Service",
    summary: "One",
    words: [],
    answers: [{ status: 200, meaning: "Done." }],
  };
  const routeOf = (access: RouteAccess, method: "GET" | "POST") =>
    ({
      methods: [method],
      path: "/one",
      access,
      errors: ({ secToken: "adaptor", operation: "fault" } as Record<string, string>)[access] ?? "standard",
      ...(access === "operation"
        ? { descriptions: [{ ...described, operation: "one", access: "secToken" }] }
        : { description: described }),
      answer: async () => ({ status: 200, headers: {}, body: "" }),
    }) as unknown as Route;
  const operationFor = (access: RouteAccess, method: "GET" | "POST") =>
    operationsOf(written([routeOf(access, method)]))[0]!;

  it("follows from the route's rule", () => {
    const schemes = Object.fromEntries(
      accessRules.map((access) => [access, operationFor(access, "GET").security.flatMap((one) => Object.keys(one))]),
    );
    assert.deepEqual(schemes, {
      public: [],
      secToken: ["secTokenHeader", "secToken"],
      bearer: ["accessToken"],
      secTokenOrBearer: ["secTokenHeader", "secToken", "accessToken"],
      client: ["clientSecret"],
      operator: ["operatorToken", "operatorSession"],
      operation: ["secToken"],
    });
  });

  it("adds its refusals, and the credentials that a body may hold instead", () => {
    const { requestBody, security, responses } = operationFor("client", "POST") as OpenApi;
    const { properties } = requestBody.content["application/json"].schema;
    assert.deepEqual(Object.keys(properties), ["client_id", "client_secret"]);
    assert.deepEqual(security, [{ clientSecret: [] }, {}]);
    assert.match(responses[401].description, /^`invalid_client`: /);
    assert.match(operationFor("bearer", "GET").responses[401].description, /`missing_token`[\s\S]*`invalid_token`/);
    assert.match(operationFor("secToken", "GET").responses[401].description, /^`106`: /);
    assert.ok(operationFor("operation", "POST").responses[500].content["text/xml"]);
    assert.deepEqual(Object.keys(operationFor("public", "GET").responses), ["200", "4XX", "default"]);
  });
});

describe("an invalid description", () => {
  it("stops the document when two schemas share a name", () => {
    const named = (description: string): Description => ({
      operationId: description,
      tag: "Service",
      summary: description,
      words: [],
      answers: [
        {
          status: 200,
          meaning: "Done.",
          content: { contentType: "application/json", schema: { title: "Twice", description } },
        },
      ],
    });
    const routes = ["first", "second"].map(
      (name): Route => ({
        methods: ["GET"],
        path: `/${name}`,
        access: "public",
        errors: "standard",
        description: named(name),
        answer: async () => ({ status: 200, headers: {}, body: "" }),
      }),
    );
    assert.throws(() => openApiDocument(routes, deployment), /Two different schemas are called Twice/);
  });

  it("stops the start when a platform operation has none", async () => {
    const { describedOperations } = await import("../../src/outlets/platform/platform-descriptions.ts");
    assert.throws(
      () => describedOperations(new Map([["openTheDoor", { access: "public" }]])),
      /The platform operation openTheDoor has no description/,
    );
  });
});
