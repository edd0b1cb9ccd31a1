import type { ContentDescription, Description, Parameter } from "../../http/documentation/description.ts";
import { jsonAnswer } from "../../http/documentation/description-parts.ts";
import { object, type Schema } from "../../model/json-schema.ts";
import { type AdminCall, type AdminField, memberName } from "../../operators/admin-call.ts";

/** The parameters of a list of which each answer holds one page. */
export const pageFields: readonly AdminField[] = [
  { option: "cursor", kind: "text", meaning: "Where the page begins: `cursor` of the page before." },
  { option: "page-size", kind: "number", meaning: "How many entries the page has at most: 1 to 200, by default 50." },
];

/** Options of a read or of a removal stand in the query. */
export function takesQuery({ method }: AdminCall): boolean {
  return method === "GET" || method === "DELETE";
}

/** Whether the call adds something, so that its answer has the status 201. */
export function isAddition({ method, act }: AdminCall): boolean {
  return method === "POST" && / (add|make|invite)$/.test(act);
}

export function describeCall(call: AdminCall): Description {
  const { act, summary, words = [], fields = [], answer, example, absentCode = "not_found" } = call;
  const inQuery = takesQuery(call) ? [...fields, ...(call.isPaged ? pageFields : [])] : [];
  const inPath = [...call.path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  const body = takesQuery(call) || fields.length === 0 ? undefined : bodyOf(fields);
  const isNew = isAddition(call);
  return {
    operationId: operationId(act),
    tag: "Administration",
    summary,
    words: call.isWithoutCommand ? words : [...words, `The command \`breezeway ${act}\`.`],
    parameters: [...inPath.map(pathParameter), ...inQuery.map(queryParameter)],
    ...(body && { body }),
    answers: [jsonAnswer(isNew ? 201 : 200, isNew ? "It is added." : "The answer of the command.", answer, example)],
    errors:
      inPath.length === 0 || absentCode === null
        ? []
        : [{ status: 404, code: absentCode, when: "It does not exist, or belongs to a tenant that you don't reach." }],
  };
}

/** `adminUserAdd`. */
function operationId(act: string): string {
  const words = act.split(/[ -]/).map((word) => word[0]!.toUpperCase() + word.slice(1));
  return `admin${words.join("")}`;
}

const pathMeanings: Readonly<Record<string, string>> = {
  tenant: "The tenant's name or id.",
  user: "The user's id.",
  client: "The client's id.",
  operator: "The operator's name or id.",
  invitation: "The invitation's id, or the invited name.",
  id: "The id, as the list shows it.",
};

function pathParameter(name: string): Parameter {
  return {
    name,
    in: "path",
    isRequired: true,
    schema: { type: "string" },
    meaning: pathMeanings[name] ?? "Its id.",
    example: "1",
  };
}

function queryParameter(field: AdminField): Parameter {
  const { kind, meaning, isRequired, example } = field;
  return {
    name: memberName(field),
    in: "query",
    isRequired: isRequired === true,
    ...(kind === "texts" ? { isRepeatable: true } : {}),
    schema: { type: kind === "number" ? "integer" : "string" },
    meaning,
    ...(typeof example === "string" && { example }),
  };
}

const schemas: Readonly<Record<AdminField["kind"], (description: string) => Schema>> = {
  text: (description) => ({ type: "string", description }),
  texts: (description) => ({ type: "array", description, items: { type: "string" } }),
  flag: (description) => ({ type: "boolean", description }),
  number: (description) => ({ type: "number", description }),
  object: (description) => ({ type: "object", description }),
};

function bodyOf(fields: readonly AdminField[]): ContentDescription {
  const membersOf = (isRequired: boolean) =>
    Object.fromEntries(
      fields
        .filter((field) => (field.isRequired === true) === isRequired)
        .map((field) => [memberName(field), schemas[field.kind](field.meaning)]),
    );
  const examples = fields.flatMap((field) =>
    field.example === undefined ? [] : [[memberName(field), field.example] as const],
  );
  return {
    contentType: "application/json",
    schema: object("The options of the command.", membersOf(true), membersOf(false)),
    example: Object.fromEntries(examples),
  };
}
