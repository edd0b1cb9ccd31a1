import { boolean, integer, list, object, orNull, text } from "../../../model/json-schema.ts";
import type { AdminCall, AdminField } from "../../../operators/admin-call.ts";
import { exampleTime, time, timeOrNull } from "./fields.ts";

const ofOperator = {
  operatorId: integer("The operator's id."),
  name: text("The name to sign in with."),
  role: text("What the operator may do.", { enum: ["owner", "tenantAdmin", "viewer"] }),
  allTenants: boolean("Reaches every tenant."),
  tenants: list(
    "The tenants that the operator reaches by name.",
    object("A tenant.", { tenantId: integer("Its id."), name: text("Its name.") }),
  ),
  suspended: boolean("Can't sign in."),
  created: time("When the operator was added."),
  signedIn: timeOrNull("The last sign-in."),
};
const operator = object("An operator.", ofOperator);
const changedOperator = object("The operator after the change.", {
  ...ofOperator,
  invitationsEnded: integer(
    "Waiting invitations that ended: all, when an owner is suspended, removed, or gets another role.",
  ),
});
const exampleOperator = {
  operatorId: 1,
  name: "ada",
  role: "tenantAdmin",
  allTenants: false,
  tenants: [{ tenantId: 42, name: "Acme" }],
  suspended: false,
  created: exampleTime,
  signedIn: exampleTime,
};

const exampleChange = { ...exampleOperator, invitationsEnded: 0 };

const invitations = object("The invitations, without their links.", {
  invitations: list(
    "The oldest first.",
    object("An invitation that nobody has used.", {
      invitationId: text("Names the invitation; no secret."),
      name: orNull(text("The invited name; null: the person chooses one.")),
      role: ofOperator.role,
      allTenants: ofOperator.allTenants,
      tenants: ofOperator.tenants,
      created: time("When it was made."),
      expires: time("When it ends."),
    }),
  ),
});
const exampleInvitations = {
  invitations: [
    {
      invitationId: "oi_…",
      name: "grace",
      role: "viewer",
      allTenants: true,
      tenants: [],
      created: exampleTime,
      expires: exampleTime,
    },
  ],
};

const token = {
  tokenId: text("Names the token; no secret."),
  name: text("What it is for."),
  madeBy: orNull(text("The id of the token that made it, with which it ends; null if no token made it.")),
  created: time("When it was made."),
  expires: time("When it ends."),
  used: orNull(time("The last use.")),
};
const exampleToken = {
  tokenId: "ot_…",
  name: "deploy",
  madeBy: null,
  created: exampleTime,
  expires: exampleTime,
  used: null,
};

const session = object("A signed-in browser.", {
  sessionId: text("Names the session; no secret."),
  created: time("When the operator signed in."),
  used: time("The last use, to the minute."),
  expires: time("When it ends at the latest."),
  address: text("The address that it came from."),
  userAgent: text("The browser, as it calls itself."),
});
const exampleSession = {
  sessionId: "os_…",
  created: exampleTime,
  used: exampleTime,
  expires: exampleTime,
  address: "192.0.2.1",
  userAgent: "Mozilla/5.0",
};

const access: readonly AdminField[] = [
  {
    option: "role",
    kind: "text",
    meaning: "`owner`: everything; `tenantAdmin`: the named tenants; `viewer`: changes nothing.",
    isRequired: true,
    example: "viewer",
  },
  { option: "tenant", kind: "texts", meaning: "Names or ids of tenants. A viewer without one sees all." },
];
const path = "/operators/:operator";
const owners = { subject: "deployment" } as const;
const own = { subject: "self" } as const;

export const operatorCalls: readonly AdminCall[] = [
  {
    act: "operator list",
    method: "GET",
    path: "/operators",
    need: "read",
    ...owners,
    summary: "List operators",
    answer: object("All operators.", { operators: list("In the order of their ids.", operator) }),
    example: { operators: [exampleOperator] },
  },
  {
    act: "operator invite",
    method: "POST",
    path: "/operators/invitations",
    need: "secret",
    ...owners,
    asksPassword: true,
    summary: "Invite a person as an operator",
    words: ["The answer holds a link for one use within 7 days. The person chooses the password."],
    fields: [
      ...access,
      { option: "name", kind: "text", meaning: "The name to sign in with; without it the person chooses one." },
    ],
    answer: object("The link.", {
      path: text("Its path."),
      url: text("Its address."),
      days: integer("How long it is valid."),
    }),
    example: {
      path: "/console/invitation/bwol_…",
      url: "https://breezeway.example/console/invitation/bwol_…",
      days: 7,
    },
  },
  {
    act: "operator invitations list",
    method: "GET",
    path: "/operator-invitations",
    need: "read",
    ...owners,
    summary: "List the invitations that nobody has used",
    answer: invitations,
    example: exampleInvitations,
  },
  {
    act: "operator invitations end",
    method: "DELETE",
    path: "/operator-invitations/:invitation",
    need: "change",
    ...owners,
    summary: "End an invitation at once, or all invitations for a name",
    answer: invitations,
    example: exampleInvitations,
  },
  {
    act: "operator show",
    method: "GET",
    path,
    need: "read",
    ...own,
    summary: "Show an operator",
    answer: operator,
    example: exampleOperator,
  },
  {
    act: "operator role",
    method: "PUT",
    path: `${path}/role`,
    need: "change",
    ...owners,
    asksPassword: true,
    summary: "Give an operator another role or other tenants",
    fields: access,
    answer: changedOperator,
    example: exampleChange,
  },
  {
    act: "operator suspend",
    method: "POST",
    path: `${path}/suspend`,
    need: "change",
    ...owners,
    summary: "Suspend an operator; sessions and tokens end at once",
    answer: changedOperator,
    example: { ...exampleChange, suspended: true },
  },
  {
    act: "operator resume",
    method: "POST",
    path: `${path}/resume`,
    need: "change",
    ...owners,
    asksPassword: true,
    summary: "Let a suspended operator sign in again",
    answer: changedOperator,
    example: exampleChange,
  },
  {
    act: "operator remove",
    method: "DELETE",
    path,
    need: "change",
    ...owners,
    asksPassword: true,
    summary: "Remove an operator with sessions and tokens",
    answer: changedOperator,
    example: exampleChange,
  },
  {
    act: "operator token list",
    method: "GET",
    path: `${path}/tokens`,
    need: "read",
    ...own,
    summary: "List the tokens of an operator, without their secrets",
    answer: object("The tokens.", { tokens: list("Newest first.", object("A token.", token)) }),
    example: { tokens: [exampleToken] },
  },
  {
    act: "operator token make",
    method: "POST",
    path: `${path}/tokens`,
    need: "secret",
    ...own,
    asksPassword: true,
    summary: "Make a token with which a program acts as this operator",
    words: [
      "The token is shown only once. Made with a token, it ends with that token: when it expires, is revoked, or its operator is suspended or removed.",
    ],
    fields: [
      { option: "name", kind: "text", meaning: "What it is for.", isRequired: true, example: "deploy" },
      {
        option: "days",
        kind: "number",
        meaning: "How long it is valid, 1 to 366 days; 90 when it is left out, or until the token ends that makes it.",
      },
    ],
    answer: object("The new token.", { ...token, operator: text("Whose rights it has."), token: text("The secret.") }),
    example: { ...exampleToken, operator: "ada", token: "bwop_…" },
  },
  {
    act: "operator token revoke",
    method: "DELETE",
    path: "/operator-tokens/:id",
    need: "change",
    ...own,
    summary: "End a token at once, with the tokens that it made",
    answer: object("The token that ended.", token),
    example: exampleToken,
  },
  {
    act: "operator sessions list",
    method: "GET",
    path: `${path}/sessions`,
    need: "read",
    ...own,
    summary: "List the signed-in browsers of an operator",
    answer: object("The sessions.", { sessions: list("Newest first.", session) }),
    example: { sessions: [exampleSession] },
  },
  {
    act: "operator sessions end",
    method: "DELETE",
    path: "/operator-sessions/:id",
    need: "change",
    ...own,
    summary: "Sign a browser out at once",
    answer: session,
    example: exampleSession,
  },
];
