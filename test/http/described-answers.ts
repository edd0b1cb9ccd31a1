import assert from "node:assert/strict";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { commonErrors } from "../../src/http/documentation/common-errors.ts";
import { type ReadElement, readStrictly } from "../platform/strict-xml.ts";

// biome-ignore lint/suspicious/noExplicitAny: the document is read as any client would read it
export type OpenApi = any;

/** An operation as the document tells it. */
export interface ToldOperation {
  readonly path: string;
  readonly method: string;
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string }[];
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly responses: Readonly<Record<string, OpenApi>>;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

export function operationsOf(document: OpenApi): readonly ToldOperation[] {
  return Object.entries<OpenApi>(document.paths).flatMap(([path, item]) =>
    Object.entries<OpenApi>(item).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
  );
}

/** Holds answers against the document, and remembers which of its promises were seen kept. */
export class DescribedAnswers {
  readonly #operations: ReadonlyMap<string, ToldOperation>;
  readonly #schemas: Schemas;
  readonly #seen = new Set<string>();

  constructor(document: OpenApi) {
    this.#operations = new Map(operationsOf(document).map((operation) => [operation.operationId, operation]));
    this.#schemas = new Schemas(document);
  }

  /** The answer has a status, a type and a body that the document tells; an error has a code that it tells. */
  check(operationId: string, { status, headers, body }: Answered): void {
    const operation = this.#operations.get(operationId);
    assert.ok(operation, `${operationId} is not in the document`);
    const { responses } = operation;
    const told = responses[status] ?? responses[`${String(status)[0]}XX`] ?? responses.default;
    const where = `${operationId} ${status}`;
    assert.ok(status >= 400 || operation.responses[status], `${where} is not told`);
    for (const name of Object.keys(told.headers)) assert.ok(headers.get(name), `${where} has no ${name}`);
    this.#seen.add(where);

    const type = headers.get("content-type")?.split(";")[0] ?? "";
    if (!told.content) {
      assert.equal(body, "", `${where} has a body that isn't told`);
      return;
    }
    const toldType = Object.keys(told.content)[0]!;
    assert.ok(type === toldType || (toldType === "image/*" && type.startsWith("image/")), `${where} is ${type}`);
    const { schema } = told.content[toldType];
    const value = this.#schemas.read(schema, type, body);
    this.#schemas.assertFits(schema, value, where);
    if (status >= 400) this.#checkCode(operation, status, value);
  }

  #checkCode({ operationId, responses }: ToldOperation, status: number, value: unknown): void {
    const { error, errorCode } = value as { readonly error?: string; readonly errorCode?: number };
    const code = error ?? errorCode;
    if (code === undefined) return;
    this.#seen.add(`${operationId} ${status} ${code}`);
    const isCommon = commonErrors.some((common) => common.status === status && common.code === code);
    // The adaptor has one number for all that is malformed.
    const isCommonNumber = code === 102 && status !== 500;
    const isTold = codesOf(responses[status]).includes(String(code));
    assert.ok(isTold || isCommon || isCommonNumber, `${operationId} answers ${status} with ${code}, which is not told`);
  }

  /** What is told but was not seen: each status of each operation, and each code of its errors. */
  unseen(): readonly string[] {
    return [...this.#operations.values()].flatMap(({ operationId, responses }) =>
      Object.entries(responses)
        .filter(([status]) => /^\d+$/.test(status))
        .flatMap(([status, response]) => [
          `${operationId} ${status}`,
          ...codesOf(response).map((code) => `${operationId} ${status} ${code}`),
        ])
        .filter((promise) => !this.#seen.has(promise)),
    );
  }
}

/** The codes of a refusal's description: each stands at the beginning of its line. */
function codesOf(response: OpenApi): readonly string[] {
  return [...(response?.description ?? "").matchAll(/^`(\w+)`: /gm)].map(([, code]) => code!);
}

/** The document's schemas, closed: a field that isn't told is a fault, though a client should expect new ones. */
export class Schemas {
  readonly #document: OpenApi;
  readonly #ajv = new Ajv2020({
    allErrors: true,
    allowUnionTypes: true,
    formats: {
      int64: { type: "number", validate: Number.isSafeInteger },
      uri: (text: string) => URL.canParse(text),
      uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    },
  });
  readonly #compiled = new Map<object, ValidateFunction>();

  constructor(document: OpenApi) {
    this.#document = closed(document);
    this.#ajv.addVocabulary(["xml"]);
    this.#ajv.addSchema(withAddress({ $defs: this.#document.components.schemas }), "document");
  }

  assertFits(schema: OpenApi, value: unknown, where: string): void {
    const validate = this.#compiled.get(schema) ?? this.#ajv.compile(withAddress(closed(schema)));
    this.#compiled.set(schema, validate);
    assert.ok(validate(value), `${where}: ${this.#ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`);
  }

  /** A body as the value that its schema speaks of. */
  read(schema: OpenApi, type: string, body: string): unknown {
    if (type === "application/json") return JSON.parse(body);
    return type === "text/xml" ? this.#fromXml(schema, readStrictly(body)) : body;
  }

  #fromXml(schema: OpenApi, root: ReadElement): unknown {
    const { xml } = this.#resolved(schema);
    assert.equal(root.name, `${xml.prefix}:${xml.name}`);
    assert.deepEqual(root.attributes, { [`xmlns:${xml.prefix}`]: xml.namespace });
    return this.#valueOf(schema, root);
  }

  #valueOf(schema: OpenApi, { text, children }: ReadElement): unknown {
    const { type, properties = {} } = this.#resolved(schema);
    if (type === "string") return text;
    if (type === "integer") return Number(text);
    const value: Record<string, unknown> = {};
    for (const child of children) {
      const told = this.#resolved(properties[child.name] ?? {});
      if (told.type === "array")
        value[child.name] = [...((value[child.name] as []) ?? []), this.#valueOf(told.items, child)];
      else value[child.name] = this.#valueOf(told, child);
    }
    return value;
  }

  #resolved(schema: OpenApi): OpenApi {
    const [, name] = /^#\/components\/schemas\/(\w+)$/.exec(schema.$ref ?? "") ?? [];
    return name === undefined ? schema : this.#document.components.schemas[name];
  }
}

/** References lead into the document, wherever the schema itself is compiled. */
function withAddress(schema: OpenApi): OpenApi {
  return JSON.parse(JSON.stringify(schema).replaceAll("#/components/schemas/", "document#/$defs/"));
}

function closed(schema: OpenApi): OpenApi {
  if (typeof schema !== "object" || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(closed);
  const entries = Object.entries(schema).map(([name, value]) => [name, name === "example" ? value : closed(value)]);
  const isOpen = schema.type === "object" && schema.properties && schema.additionalProperties === undefined;
  return { ...Object.fromEntries(entries), ...(isOpen && { additionalProperties: false }) };
}
