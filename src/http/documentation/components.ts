import type { Schema } from "../../model/json-schema.ts";

/** Collects the schemas that have a title, and puts a reference where each of them is used. */
export class Components {
  readonly schemas: Record<string, object> = {};
  readonly #sources = new Map<string, Schema>();

  refer(schema: Schema): object {
    const { title } = schema;
    if (title === undefined) return this.#inside(schema);
    const known = this.#sources.get(title);
    if (known && known !== schema) throw new Error(`Two different schemas are called ${title}.`);
    if (!known) {
      this.#sources.set(title, schema);
      this.schemas[title] = this.#inside(schema);
    }
    return { $ref: `#/components/schemas/${title}` };
  }

  #inside({ properties, items, additionalProperties, ...rest }: Schema): object {
    return {
      ...rest,
      ...(properties && {
        properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, this.refer(one)])),
      }),
      ...(items && { items: this.refer(items) }),
      ...(additionalProperties && { additionalProperties: this.refer(additionalProperties) }),
    };
  }
}
