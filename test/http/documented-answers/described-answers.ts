import assert from "node:assert/strict";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { commonErrors } from "../../../src/http/documentation/common-errors.ts";
import { type ReadElement, readStrictly } from "../../platform/strict-xml.ts";

// biome-ignore lint/suspicious/noExplicitAny: the document is read as any client would read it
export type OpenApi = any;

/** An operation of the OpenAPI document. */
export interface DescribedOperation {
  readonly path: string;
  readonly method: string;
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly { readonly name: string }[];
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly responses: Readonly<Record<string, OpenApi>>;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

export function operationsOf(document: OpenApi): readonly DescribedOperation[] {
  return Object.entries<OpenApi>(document.paths).flatMap(([path, item]) =>
    Object.entries<OpenApi>(item).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
  );
}

/** Checks answers against the document, and records which statuses and codes were seen. */
export class DescribedAnswers {
  readonly #operations: ReadonlyMap<string, DescribedOperation>;
  readonly #schemas: Schemas;
  readonly #seen = new Set<string>();

  constructor(document: OpenApi) {
    this.#operations = new Map(operationsOf(document).map((operation) => [operation.operationId, operation]));
    this.#schemas = new Schemas(document);
  }

  /** Asserts that the document describes the answer's status, type and body, and an error's code. */
  check(operationId: string, { status, headers, body }: Answered): void {
    const operation = this.#operations.get(operationId);
    assert.ok(operation, `${operationId} is not in the document`);
    const { responses } = operation;
    const described = responses[status] ?? responses[`${String(status)[0]}XX`] ?? responses.default;
    const where = `${operationId} ${status}`;
    assert.ok(status >= 400 || operation.responses[status], `${where} is not described`);
    for (const name of Object.keys(described.headers)) assert.ok(headers.get(name), `${where} has no ${name}`);
    this.#seen.add(where);

    const type = headers.get("content-type")?.split(";")[0] ?? "";
    if (!described.content) {
      assert.equal(body, "", `${where} has a body that isn't described`);
      return;
    }
    const describedType = Object.keys(described.content)[0]!;
    assert.ok(
      type === describedType || (describedType === "image/*" && type.startsWith("image/")),
      `${where} is ${type}`,
    );
    const { schema } = described.content[describedType];
    const value = this.#schemas.read(schema, type, body);
    this.#schemas.assertFits(schema, value, where);
    if (status >= 400) this.#checkCode(operation, status, value);
  }

  #checkCode({ operationId, responses }: DescribedOperation, status: number, value: unknown): void {
    const { error, errorCode } = value as { readonly error?: string; readonly errorCode?: number };
    const code = error ?? errorCode;
    if (code === undefined) return;
    this.#seen.add(`${operationId} ${status} ${code}`);
    const isCommon = commonErrors.some((common) => common.status === status && common.code === code);
    // The adaptor uses one number for all malformed requests.
    const isCommonNumber = code === 102 && status !== 500;
    const isDescribed = codesOf(responses[status]).includes(String(code));
    assert.ok(
      isDescribed || isCommon || isCommonNumber,
      `${operationId} answers ${status} with ${code}, which is not described`,
    );
  }

  /** What the document describes but was not seen: each status of each operation, and each code of its errors. */
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

/** The codes in a refusal's description: each stands at the beginning of its line. */
function codesOf(response: OpenApi): readonly string[] {
  return [...(response?.description ?? "").matchAll(/^`(\w+)`: /gm)].map(([, code]) => code!);
}

/**
 * The document's schemas without additional properties: an undocumented field is a fault, although a client should
 * expect new ones.
 */
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

  /** Parses a body into the value that its schema describes. */
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
      const described = this.#resolved(properties[child.name] ?? {});
      if (described.type === "array")
        value[child.name] = [...((value[child.name] as []) ?? []), this.#valueOf(described.items, child)];
      else value[child.name] = this.#valueOf(described, child);
    }
    return value;
  }

  #resolved(schema: OpenApi): OpenApi {
    const [, name] = /^#\/components\/schemas\/(\w+)$/.exec(schema.$ref ?? "") ?? [];
    return name === undefined ? schema : this.#document.components.schemas[name];
  }
}

/** Makes references point into the document, wherever the schema itself is compiled. */
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
