import type { AssistantKind, CheckedFact, SetUpEntry } from "../../assistants/assistant.ts";
import { assistantKinds } from "../../assistants/assistant.ts";
import { outletSettings } from "../../assistants/outlet-settings.ts";
import type { Outlet } from "../../assistants/outlets.ts";
import type { UserId } from "../../model/ids.ts";
import type { AdminCommand, AdministrationParts } from "../administration/admin-command.ts";
import { textOf } from "../file-argument.ts";
import { idByPrefix } from "../id-prefix.ts";
import { type Input, id, optional, text } from "../input.ts";
import type { Noun } from "../noun.ts";
import { counted, rows, table, whole } from "../terminal/output.ts";
import { readSecret } from "../terminal/secret-input.ts";
import { chosenTenant, tenantNames, withTenantOption } from "./tenant-option.ts";

const subject = { name: "outlet", meaning: "the outlet's id or the beginning of it; see: breezeway outlet list" };

const add: AdminCommand = {
  name: "outlet add",
  meaning: "connect a tenant's users to a voice assistant; prints what its maker's console must be told",
  examples: ["outlet add google-home --tenant Acme --project-id acme-home --service-account key.json"],
  arguments: [{ name: "kind", meaning: "the assistant", isRequired: true, choices: [...assistantKinds] }],
  options(command) {
    const described = command
      .requiredOption("--tenant <name or id>", "the tenant whose users may link the assistant")
      .option("--name <name>", "the name that users read before they give it access; by default that of the assistant");
    return outletSettings
      .filter(({ type }) => type !== "secret")
      .reduce(
        (known, { kind, name, type, meaning, isOptional }) =>
          known.option(`--${name} <${type}>`, `${kind}: ${meaning}${isOptional ? "" : " (required)"}`),
        described,
      );
  },
  /** Files are read here, because the service may run as another user; secrets are asked for, and never typed as options. */
  async extraInput(typed, terminal) {
    const settings: Record<string, string> = {};
    for (const { kind, name, type, meaning } of outletSettings) {
      if (kind !== typed.kind) continue;
      const value = optional(typed, name);
      if (type === "secret") {
        const variable = `BREEZEWAY_${name.toUpperCase().replaceAll("-", "_")}`;
        const secret = await readSecret(terminal, { what: meaning, variable });
        if (secret !== undefined) settings[name] = secret;
      } else if (value !== undefined) {
        settings[name] = type === "file" ? textOf(name, value) : value;
      }
    }
    return { settings };
  },
  async act({ assistants }, input) {
    const { outlet, client, secret, setUp } = await assistants.outlets.add({
      tenant: text(input, "tenant"),
      kind: text(input, "kind") as AssistantKind,
      name: optional(input, "name"),
      settings: (input.settings ?? {}) as Readonly<Record<string, string>>,
    });
    const { tenantId, id: clientId, name } = client;
    const detail = { outlet: outlet.id, kind: outlet.kind, name };
    return {
      answer: { outlet: outlet.id, kind: outlet.kind, client_id: clientId, client_secret: secret, setUp },
      changed: { tenantId, clientId, detail },
    };
  },
  toText: ({ outlet, kind, setUp }, _typed, width) =>
    [
      `Added outlet ${outlet} to ${kind}. Enter this in its maker's console:`,
      "",
      setUpInWords(setUp, width),
      "",
      "The secret is shown only now: the service stores a hash of it.",
      `Then: breezeway outlet check ${outlet}`,
    ].join("\n"),
};

function setUpInWords(setUp: readonly SetUpEntry[], width?: number): string {
  const pages = [...Map.groupBy(setUp, ({ page }) => page)];
  return pages
    .map(
      ([page, entries]) =>
        `${page}\n${rows(
          entries.map(({ field, value }) => [`  ${field}`, value]),
          width,
        )}`,
    )
    .join("\n");
}

const list: AdminCommand = {
  name: "outlet list",
  meaning: "list outlets to voice assistants",
  examples: ["outlet list", "outlet list --tenant Acme"],
  options: withTenantOption,
  async act({ identity, assistants }, input) {
    const found = await assistants.outlets.list(await chosenTenant(identity, input));
    const names = await tenantNames(identity);
    const outlets = await Promise.all(
      found.map(async (outlet) => ({
        ...shown(outlet, names.get(outlet.tenantId)),
        users: await assistants.grants.countOfOutlet(outlet.id),
      })),
    );
    return { answer: { outlets } };
  },
  toText({ outlets }, _typed, width) {
    if (outlets.length === 0) return "There are no outlets yet. See: breezeway outlet add --help";
    return table(
      [whole("OUTLET"), "KIND", "TENANT", whole("CLIENT"), "USERS"],
      (outlets as (ReturnType<typeof shown> & { users: number })[]).map((one) => [
        one.outlet,
        one.kind,
        one.tenant,
        one.client_id,
        String(one.users),
      ]),
      width,
    );
  },
};

/** Users of an outlet that `outlet show` lists. */
const usersShown = 20;

const show: AdminCommand = {
  name: "outlet show",
  meaning:
    "show one outlet without its secrets, what its maker's console must be told, and the users who have linked it",
  examples: ["outlet show bwo_…"],
  arguments: [subject],
  options: (command) => command.option("--outlet <id>", "the same, as an option"),
  async act({ identity, assistants }, input) {
    const outlet = await chosenOutlet(assistants, input);
    const names = await tenantNames(identity);
    const users = await assistants.grants.ofOutlet(outlet.id, usersShown);
    return {
      answer: {
        ...shown(outlet, names.get(outlet.tenantId)),
        settings: outlet.assistant.shownSettings(outlet.settings),
        setUp: assistants.outlets.setUp(outlet),
        linked: await assistants.grants.countOfOutlet(outlet.id),
        users: users.map(({ userId, sinceMs, reportedMs, problem, dueMs }) => ({
          userId,
          since: new Date(sinceMs).toISOString(),
          reported: reportedMs === null ? null : new Date(reportedMs).toISOString(),
          waits: dueMs !== null,
          problem,
        })),
      },
    };
  },
  toText(answer, _typed, width) {
    const { outlet, kind, tenant, client_id, created, settings, setUp, linked, users } = answer;
    const facts = rows(
      [
        ["outlet", outlet],
        ["kind", kind],
        ["tenant", tenant],
        ["client", client_id],
        ["created", created],
        ...(Object.entries(settings) as [string, string][]),
        ["linked by", counted(linked, "user")],
      ],
      width,
    );
    const ofUsers = (users as ShownUser[]).map(({ userId, reported, problem, waits }) =>
      [
        `  user ${userId}: `,
        reported ? `last report ${reported}` : "no report yet",
        problem ? `; ${problem}` : "",
        waits ? "; waits" : "",
      ].join(""),
    );
    return [facts, ...ofUsers, "", setUpInWords(setUp, width)].join("\n");
  },
};

interface ShownUser {
  readonly userId: number;
  readonly reported: string | null;
  readonly problem: string | null;
  readonly waits: boolean;
}

const withUserOption: AdminCommand["options"] = (command) =>
  command.option("--outlet <id>", "the same, as an option").option("--user <id>", "of one user only");

const deliveries: AdminCommand = {
  name: "outlet deliveries",
  meaning: "list the newest reports to an assistant and what became of them",
  examples: ["outlet deliveries bwo_…", "outlet deliveries bwo_… --user 7"],
  arguments: [subject],
  options: withUserOption,
  async act({ assistants }, input) {
    const outlet = await chosenOutlet(assistants, input);
    const found = await assistants.deliveries(outlet.id, chosenUser(input));
    return {
      answer: {
        deliveries: found.map(({ userId, type, thingIds, things, outcome, status, text, createdMs }) => ({
          userId,
          time: new Date(createdMs).toISOString(),
          type,
          things,
          thingIds,
          outcome,
          status,
          text,
        })),
      },
    };
  },
  toText({ deliveries }, _typed, width) {
    if (deliveries.length === 0) return "Nothing was reported in the last week.";
    return table(
      ["TIME", "USER", "MESSAGE", "THINGS", "OUTCOME", "ANSWER"],
      (deliveries as ShownDelivery[]).map(({ time, userId, type, things, outcome, status, text }) => [
        time,
        String(userId),
        type,
        String(things),
        outcome,
        text ?? String(status ?? "-"),
      ]),
      width,
    );
  },
};

interface ShownDelivery {
  readonly time: string;
  readonly userId: number;
  readonly type: string;
  readonly things: number;
  readonly outcome: string;
  readonly status: number | null;
  readonly text: string | null;
}

const resend: AdminCommand = {
  name: "outlet resend",
  meaning: "report all things of a user to an assistant again",
  examples: ["outlet resend bwo_… --user 7"],
  arguments: [subject],
  options: (command) =>
    command.option("--outlet <id>", "the same, as an option").requiredOption("--user <id>", "the user"),
  async act({ assistants }, input) {
    const outlet = await chosenOutlet(assistants, input);
    const userId = id<UserId>(input, "user");
    const isLinked = await assistants.grants.reportAll(outlet.id, userId);
    const { tenantId, clientId } = outlet;
    const answer = { outlet: outlet.id, userId, isLinked };
    return { answer, changed: { tenantId, userId, clientId, detail: { outlet: outlet.id, linked: isLinked } } };
  },
  toText: ({ userId, isLinked }) =>
    isLinked ? `All things of user ${userId} are reported again.` : `User ${userId} has not linked this outlet.`,
};

/** How long a check waits for the maker's service. */
const checkMs = 15_000;

const check: AdminCommand = {
  name: "outlet check",
  meaning: "prove an outlet's settings against its maker's service",
  examples: ["outlet check bwo_…"],
  arguments: [subject],
  options: (command) => command.option("--outlet <id>", "the same, as an option"),
  async act({ assistants }, input) {
    const outlet = await chosenOutlet(assistants, input);
    const facts = await assistants.outlets.check(outlet, AbortSignal.timeout(checkMs));
    return { answer: { outlet: outlet.id, isRight: facts.every(({ isRight }) => isRight), facts } };
  },
  toText({ facts }, _typed, width) {
    return rows(
      (facts as CheckedFact[]).map(({ fact, isRight, text }) => [`${isRight ? "ok   " : "wrong"} ${fact}`, text]),
      width,
    );
  },
};

const remove: AdminCommand = {
  name: "outlet remove",
  meaning: "remove an outlet and its client; its users' links end at once",
  examples: ["outlet remove bwo_…"],
  arguments: [subject],
  options: (command) => command.option("--outlet <id>", "the same, as an option"),
  async act({ assistants }, input) {
    const outlet = await chosenOutlet(assistants, input);
    const grants = await assistants.outlets.remove(outlet);
    const { id: outletId, kind, tenantId, clientId } = outlet;
    return {
      answer: { outlet: outletId, kind, grants },
      changed: { tenantId, clientId, detail: { outlet: outletId, kind, grants } },
    };
  },
  toText: ({ outlet, grants }) => `Removed outlet ${outlet}. ${counted(grants, "grant")} of its client ended.`,
};

async function chosenOutlet({ outlets }: AdministrationParts["assistants"], input: Input): Promise<Outlet> {
  const all = await outlets.list();
  const known = all.map((outlet) => ({ id: outlet.id, words: outlet.kind }));
  const chosen = idByPrefix("outlet", text(input, "outlet"), known);
  return all.find((outlet) => outlet.id === chosen)!;
}

function chosenUser(input: Input): UserId | undefined {
  return optional(input, "user") === undefined ? undefined : id<UserId>(input, "user");
}

function shown({ id: outlet, kind, clientId, createdMs }: Outlet, tenant: string | undefined) {
  return { outlet, kind, tenant, client_id: clientId, created: new Date(createdMs).toISOString() };
}

export const outlet: Noun = {
  name: "outlet",
  alias: "outlets",
  meaning: "connections to voice assistants",
  commands: [add, list, show, deliveries, resend, check, remove],
};
