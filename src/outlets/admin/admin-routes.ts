import { jsonAnswer } from "../../http/answer/answer.ts";
import { refusals } from "../../http/answer/refusal.ts";
import { jsonBody } from "../../http/request/body-types.ts";
import type { Incoming } from "../../http/request/incoming.ts";
import type { Route } from "../../http/routes.ts";
import { BadParameter, BreezewayError } from "../../model/errors.ts";
import {
  type AdminActs,
  type AdminCall,
  type AdminField,
  adminPath,
  inMemberNames,
  memberName,
} from "../../operators/admin-call.ts";
import { describeCall, isAddition, pageFields, takesQuery } from "./admin-descriptions.ts";

export interface AdminRouteParts {
  readonly administration: AdminActs;
}

/** One route for each command of administrators (docs/console.md). */
export function adminRoutes({ administration }: AdminRouteParts): readonly Route[] {
  return administration.calls.map(
    (call): Route => ({
      access: "operator",
      need: call.need,
      subject: call.subject,
      ...(call.asksPassword && { asksPassword: true }),
      errors: "standard",
      methods: [call.method],
      path: `${adminPath}${call.path}`,
      bodyBytes: largestBody,
      description: describeCall(call),
      async answer(incoming, operator) {
        const input = inputOf(call, incoming);
        try {
          const answer = await administration.runAs({ operator, source: incoming.source }, call.act, input);
          return jsonAnswer(isAddition(call) ? 201 : 200, answer);
        } catch (error) {
          if (error instanceof BreezewayError) error.message = inMemberNames(error.message);
          throw error;
        }
      },
    }),
  );
}

/** A logo in base64, and terms, take most of it. */
const largestBody = 262_144;
const pageSize = 50;

/** The input of a command, by the names of its options. */
export function inputOf(call: AdminCall, { pathParameters, query, body }: Incoming): Readonly<Record<string, unknown>> {
  const fields = [...(call.fields ?? []), ...(call.isPaged ? pageFields : [])];
  // The caller would expect an effect that the body does not have. Some programs send one with each GET.
  if (call.method === "DELETE" && body.kind !== "none") throw new BadParameter("body", "This call takes no body.");
  const sent = takesQuery(call) ? valuesOfQuery(query, fields) : membersOf(body);
  const input: Record<string, unknown> = { ...(call.isPaged && { "page-size": String(pageSize) }) };
  for (const [name, value] of sent) {
    const field = fields.find((each) => memberName(each) === name);
    if (!field) {
      // Parameters that proxies and caches add are ignored; a mistyped member of a body is not.
      if (takesQuery(call)) continue;
      const known = fields.map(memberName).join(", ") || "none";
      throw new BadParameter("body", `The body has a member that this call does not know. It takes: ${known}.`);
    }
    input[field.option] = readValue(field, value);
  }
  const missing = fields.find(({ option, isRequired }) => isRequired && input[option] === undefined);
  if (missing) throw new BadParameter(missing.option, `${memberName(missing)} is missing.`);
  return { ...input, ...pathParameters };
}

function valuesOfQuery(
  query: Incoming["query"],
  fields: readonly AdminField[],
): readonly (readonly [string, unknown])[] {
  const isList = (name: string) => fields.some((each) => each.kind === "texts" && memberName(each) === name);
  const values = new Map<string, unknown>();
  for (const [name, value] of query) {
    if (!isList(name) && values.has(name) && fields.some((each) => memberName(each) === name)) {
      throw new BadParameter(name, `The parameter ${name} must be sent once.`);
    }
    if (isList(name)) values.set(name, [...((values.get(name) as string[] | undefined) ?? []), value]);
    else values.set(name, value);
  }
  return [...values];
}

function membersOf(body: Incoming["body"]): readonly (readonly [string, unknown])[] {
  if (body.kind === "none") return [];
  if (body.kind !== "json") throw refusals.wrongContentType(jsonBody);
  const { value } = body;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw refusals.malformed("The body must be a JSON object.");
  }
  return Object.entries(value);
}

/** Commands read numbers as text. A null counts as left out. */
function readValue(field: AdminField, value: unknown): unknown {
  const { kind } = field;
  const name = memberName(field);
  if (value === null) return undefined;
  if (kind === "object") {
    if (typeof value === "object" && !Array.isArray(value)) return value;
    throw new BadParameter(name, `${name} must be an object.`);
  }
  if (kind === "flag") {
    if (typeof value === "boolean" || value === "true" || value === "false") return value === true || value === "true";
    throw new BadParameter(name, `${name} must be true or false.`);
  }
  if (kind === "texts") {
    if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value;
    throw new BadParameter(name, `${name} must be a list of texts.`);
  }
  if (typeof value === "string") return value;
  if (kind === "number" && typeof value === "number" && Number.isFinite(value)) return String(value);
  throw new BadParameter(name, `${name} must be a ${kind}.`);
}
