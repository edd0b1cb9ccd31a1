import { integer, list, object, text } from "../../../model/json-schema.ts";
import type { AdminCall } from "../../../operators/admin-call.ts";

const name = text("The name.");

export const nameCalls: readonly AdminCall[] = [
  {
    act: "names",
    method: "GET",
    path: "/names",
    need: "read",
    subject: "tenants",
    isWithoutCommand: true,
    summary: "Find the names of users, clients and tenants by their ids",
    words: ["Takes at most 1,000 ids of each kind. What does not exist, or is not yours to see, is left out."],
    fields: [
      { option: "user", kind: "texts", meaning: "Ids of users.", example: ["3"] },
      { option: "client", kind: "texts", meaning: "Ids of clients." },
      { option: "tenant", kind: "texts", meaning: "Ids of tenants." },
    ],
    answer: object("The names.", {
      users: list("Users.", object("A user.", { userId: integer("The user."), name })),
      clients: list("Clients.", object("A client.", { clientId: text("The client."), name })),
      tenants: list("Tenants.", object("A tenant.", { tenantId: integer("The tenant."), name })),
    }),
    example: { users: [{ userId: 3, name: "ada" }], clients: [], tenants: [] },
  },
];
