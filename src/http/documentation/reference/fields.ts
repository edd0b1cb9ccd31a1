import type { Schema } from "../../../model/json-schema.ts";
import { type Html, html } from "../../../web/html.ts";
import type { Parameter } from "../description.ts";
import { renderText } from "./render-text.ts";

/** A list of fields, each with its type and meaning; nested fields are collapsed. */
export function schemaFields({ properties = {}, required = [] }: Schema): Html {
  const rows = Object.entries(properties).map(([name, schema]) =>
    row({ name, kind: kindOf(schema), notes: required.includes(name) ? [] : ["may be missing"], schema }),
  );
  return html`<ul class="fields">${rows}</ul>`;
}

export function parameterFields(parameters: readonly Parameter[], places: Readonly<Record<string, string>>): Html {
  const rows = parameters.map(({ name, schema, meaning, isRequired, isRepeatable, in: place }) =>
    row({
      name,
      kind: kindOf(schema),
      notes: [isRequired ? "required" : "", isRepeatable ? "repeatable" : "", places[place] ?? ""].filter(Boolean),
      schema: { ...schema, description: meaning },
    }),
  );
  return html`<ul class="fields">${rows}</ul>`;
}

interface Row {
  readonly name: string;
  readonly kind: string;
  readonly notes: readonly string[];
  readonly schema: Schema;
}

function row({ name, kind, notes, schema }: Row): Html {
  const shownNotes = notes.map((note) => html`<span class="${note === "required" ? "must" : "note"}">${note}</span>`);
  return html`<li><p class="field"><code class="name">${name}</code> <span class="kind">${kind}</span> ${shownNotes}</p>
${schema.description && html`<p>${renderText(schema.description)}</p>`}${choices(schema)}${inner(schema)}</li>`;
}

/** The allowed values, unless the description names them already. */
function choices({ enum: values, description = "" }: Schema): Html | undefined {
  if (!values || values.every((value) => description.includes(String(value)))) return undefined;
  return html`<p class="choices">${values.map((value) => html`<code>${value}</code>`)}</p>`;
}

/** The fields of a nested object, list item or map value. */
function inner(schema: Schema): Html | undefined {
  const nested = schema.items ?? schema.additionalProperties ?? schema;
  if (!nested.properties) return undefined;
  return html`<details><summary>${countOf(nested)}</summary>${schemaFields(nested)}</details>`;
}

export function countOf({ properties = {} }: Schema): string {
  const count = Object.keys(properties).length;
  return count === 1 ? "1 field" : `${count} fields`;
}

function kindOf({ type, items, additionalProperties, properties }: Schema): string {
  if (type === undefined) return "anything";
  const types = typeof type === "string" ? [type] : type;
  const [first] = types;
  if (first === "array" && items) return `list of ${pluralOf(kindOf(items))}`;
  if (first === "object" && additionalProperties && !properties)
    return `map to ${pluralOf(kindOf(additionalProperties))}`;
  return types.join(" or ");
}

function pluralOf(kind: string): string {
  return /^(string|integer|number|boolean|object)$/.test(kind) ? `${kind}s` : kind;
}
