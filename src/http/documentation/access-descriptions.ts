import type { Scope } from "../../model/scopes.ts";
import type { OperatorRule } from "../../operators/operator-rule.ts";
import type { ErrorShape } from "../answer/error-shape.ts";
import type { RouteAccess } from "../routes.ts";
import type { ErrorDescription, Parameter } from "./description.ts";

/** What a route's access rule means for its caller. Derived from the rule, so no route describes it again. */
export interface AccessDescription {
  /** One line for people. */
  readonly words: string;
  /** Any one of these is enough; the names are those of the document's security schemes. */
  readonly schemes: readonly SecurityScheme[];
  /** Credentials that may be sent in the body instead. */
  readonly credentials: readonly Parameter[];
  readonly errors: readonly ErrorDescription[];
}

/** The access rule of a route, as far as its caller has to know it. */
export interface AccessRule {
  /** What an operator's route needs. */
  readonly operatorRule?: OperatorRule | undefined;
  readonly access: Exclude<RouteAccess, "operation">;
  readonly scopes: readonly Scope[];
  readonly errorShape: ErrorShape;
}

export type SecurityScheme =
  | "accessToken"
  | "secToken"
  | "secTokenHeader"
  | "clientSecret"
  | "operatorToken"
  | "operatorSession";

export function accessOf({ access, scopes, errorShape, operatorRule }: AccessRule): AccessDescription {
  if (operatorRule) return operatorAccess(operatorRule, errorShape);
  const described = access === "secToken" && errorShape === "fault" ? secTokenOfCalls : accessDescriptions[access];
  if (scopes.length === 0) return described;
  const named = scopes.map((scope) => `\`${scope}\``).join(" and ");
  const lacking = {
    status: 403,
    code: errorShape === "adaptor" ? 106 : "insufficient_scope",
    when: `The access token was not granted the scope ${named}. \`WWW-Authenticate\` names what is needed.`,
  };
  return { ...described, words: `${described.words} Its scope: ${named}.`, errors: [...described.errors, lacking] };
}

const secToken: Parameter = {
  name: "secToken",
  in: "queryOrBody",
  isRequired: false,
  schema: { type: "string" },
  meaning: "The user's security token, unless the `Authorization` header carries it.",
  variable: "SEC_TOKEN",
};

const accessDescriptions: Readonly<Record<AccessRule["access"], AccessDescription>> = {
  public: { words: "Open to everyone.", schemes: [], credentials: [], errors: [] },
  secToken: {
    words: "A user's security token: `Authorization: Bearer`, or the parameter `secToken`.",
    schemes: ["secTokenHeader", "secToken"],
    credentials: [secToken],
    errors: [{ status: 401, code: 106, when: "The security token is missing, wrong or has ended." }],
  },
  bearer: {
    words: "An access token: `Authorization: Bearer`.",
    schemes: ["accessToken"],
    credentials: [],
    errors: [
      { status: 401, code: "missing_token", when: "There is no access token in the `Authorization` header." },
      { status: 401, code: "invalid_token", when: "The access token is unknown, expired or revoked." },
    ],
  },
  secTokenOrBearer: {
    words: "A user's security token or an access token: `Authorization: Bearer`, or the parameter `secToken`.",
    schemes: ["secTokenHeader", "secToken", "accessToken"],
    credentials: [secToken],
    errors: [{ status: 401, code: 106, when: "The token is missing, wrong or has ended." }],
  },
  client: {
    words: "The client's id and secret: HTTP Basic, or in the body, not both.",
    schemes: ["clientSecret"],
    credentials: [
      {
        name: "client_id",
        in: "body",
        isRequired: false,
        schema: { type: "string" },
        meaning: "The client's id, unless it comes by HTTP Basic.",
        variable: "CLIENT_ID",
      },
      {
        name: "client_secret",
        in: "body",
        isRequired: false,
        schema: { type: "string" },
        meaning: "The client's secret, unless it comes by HTTP Basic.",
        variable: "CLIENT_SECRET",
      },
    ],
    errors: [{ status: 401, code: "invalid_client", when: "The client is unknown or its secret is wrong." }],
  },
  operator: {
    words: "An operator: a token in `Authorization: Bearer`, or the console's cookie.",
    schemes: ["operatorToken", "operatorSession"],
    credentials: [],
    errors: [{ status: 401, code: "not_signed_in", when: "There is no operator's token or session, or it has ended." }],
  },
};

/** Platform calls take no header. */
const secTokenOfCalls: AccessDescription = {
  words: "A user's security token: the parameter `secToken`.",
  schemes: ["secToken"],
  credentials: [
    { ...secToken, in: "queryOrForm", isRequired: true, meaning: "The user's security token, from `userLogin`." },
  ],
  errors: [{ status: 500, code: 106, when: "The security token is missing, wrong or has ended." }],
};

/** The roles that a rule allows, and what else it asks for. */
function operatorAccess({ need, subject, asksPassword }: OperatorRule, shape: ErrorShape): AccessDescription {
  const { operator } = accessDescriptions;
  if (shape === "page") return { ...operator, words: "An operator with the console's cookie.", errors: [] };
  const isForAll = (need === "read" && subject === "tenants") || subject === "self";
  const allowed = subject === "tenants" ? "owners and tenant admins" : "owners";
  const who = isForAll
    ? subject === "self"
      ? "Every role, for oneself; owners for all operators."
      : "Every role, within its tenants."
    : need === "read"
      ? "For owners, and for viewers of all tenants."
      : `For ${allowed}.`;
  const again = asksPassword ? " A session needs the password, typed within 5 minutes." : "";
  const forbidden = { status: 403, code: "operator_forbidden", when: "The operator's role does not allow it." };
  const password = { status: 403, code: "password_needed", when: "The session needs the password again." };
  const foreign = { status: 403, code: "foreign_origin", when: "A page of another site has sent it with the cookie." };
  const errors = [
    ...operator.errors,
    ...(isForAll ? [] : [forbidden]),
    ...(asksPassword ? [password] : []),
    ...(need === "read" ? [] : [foreign]),
  ];
  return { ...operator, words: `${operator.words} ${who}${again}`, errors };
}
