import { linkLifetime } from "../../../operators/one-time-links.ts";
import { roles } from "../../../operators/operator.ts";
import type { ChangedOperator, OperatorRecord } from "../../../operators/roster.ts";
import type { AdminCommand, AdministrationParts, Answer } from "../../administration/admin-command.ts";
import { ago } from "../../devices/times.ts";
import { type Input, optional, text, texts } from "../../input.ts";
import type { Noun } from "../../noun.ts";
import { counted, rows, table } from "../../terminal/output.ts";
import { tenantNames } from "../tenant-option.ts";
import { chosenOperator } from "./chosen-operator.ts";
import { invitationCommands } from "./operator-invitations.ts";
import { sessionCommands } from "./operator-sessions.ts";
import { tokenCommands } from "./operator-tokens.ts";
import { namedTenants, tenantsInWords } from "./tenants-in-words.ts";

const operatorArgument = { name: "operator", meaning: "the operator's name or id; see: breezeway operator list" };
const asOption = "--operator <name or id>";

const claim: AdminCommand = {
  name: "operator claim",
  meaning: "make a link with which you become an owner, or get a new password; it is for one use within 30 minutes",
  examples: ["operator claim"],
  async act({ operators, publicAddress }) {
    const secret = await operators.claimLink();
    const minutes = linkLifetime.claimMs / 60_000;
    return {
      answer: { ...(await linkOf(publicAddress, `/console/claim/${secret}`)), minutes },
      changed: { detail: {} },
    };
  },
  toText: ({ url, path, minutes }) =>
    `Open this link within ${minutes} minutes. It works once, and earlier claim links have ended:\n\n  ${url ?? `<the address of the service>${path}`}`,
};

/** The path alone before the first service has started: its address is not known. */
async function linkOf(publicAddress: AdministrationParts["publicAddress"], path: string) {
  const address = await publicAddress();
  return { path, ...(address !== undefined && { url: `${address}${path}` }) };
}

const list: AdminCommand = {
  name: "operator list",
  meaning: "list operators: the people who run this service",
  examples: ["operator list"],
  async act({ operators, identity }) {
    const names = await tenantNames(identity);
    return { answer: { operators: (await operators.list()).map((one) => shown(one, names)) } };
  },
  toText({ operators }, _typed, width) {
    if (operators.length === 0) return "There are no operators yet. See: breezeway operator claim";
    return table(
      ["OPERATOR", "NAME", "ROLE", "TENANTS", "STATE", "SIGNED IN"],
      (operators as Answer[]).map((one) => [
        one.operatorId,
        one.name,
        one.role,
        tenantsInWords(one),
        one.suspended ? "suspended" : "active",
        one.signedIn === null ? "never" : ago(Date.parse(one.signedIn)),
      ]),
      width,
    );
  },
};

const withReach: AdminCommand["options"] = (command) =>
  command
    .addOption(
      command
        .createOption("--role <role>", "owner: everything; tenantAdmin: the named tenants; viewer: changes nothing")
        .choices([...roles])
        .makeOptionMandatory(),
    )
    .option("--tenant <name or id...>", "a tenant that the operator reaches; a viewer without one sees all");

const invite: AdminCommand = {
  name: "operator invite",
  meaning: "make a link with which another person becomes an operator; it is for one use within 7 days",
  examples: ["operator invite --role viewer", "operator invite --role tenantAdmin --tenant Acme --name grace"],
  options: (command) =>
    withReach(command).option("--name <name>", "the name to sign in with; without it the person chooses one"),
  async act({ operators, identity, publicAddress }, input) {
    const [role, name] = [text(input, "role"), optional(input, "name")];
    const tenantIds = await chosenTenants(identity, input);
    const secret = await operators.invite({ role, tenantIds, name });
    const days = linkLifetime.invitationMs / 86_400_000;
    const detail = { role, name, tenants: tenantIds.length > 0 ? tenantIds.map(String) : undefined };
    return { answer: { ...(await linkOf(publicAddress, `/console/invitation/${secret}`)), days }, changed: { detail } };
  },
  toText: ({ url, path, days }) =>
    `Send this link to the person. It works once, within ${days} days; they choose their own password:\n\n  ${url ?? `<the address of the service>${path}`}`,
};

async function chosenTenants(identity: AdministrationParts["identity"], input: Input) {
  const found = await Promise.all(texts(input, "tenant").map((tenant) => identity.findTenant(tenant)));
  return found.map(({ tenantId }) => tenantId);
}

const show: AdminCommand = {
  name: "operator show",
  meaning: "show one operator",
  examples: ["operator show ada"],
  arguments: [operatorArgument],
  options: (command) => command.option(asOption, "the same, as an option"),
  async act(parts, input) {
    return { answer: shown(await chosenOperator(parts, input), await tenantNames(parts.identity)) };
  },
  toText: (answer) =>
    rows([
      ["operator", answer.operatorId],
      ["name", answer.name],
      ["role", answer.role],
      ["tenants", tenantsInWords(answer)],
      ["state", answer.suspended ? "suspended" : "active"],
      ["created", answer.created],
      ["signed in", answer.signedIn ?? "never"],
    ]),
};

const role: AdminCommand = {
  name: "operator role",
  meaning: "give an operator another role, or other tenants; it counts at once",
  examples: ["operator role grace --role tenantAdmin --tenant Acme Other"],
  arguments: [operatorArgument],
  options: (command) => withReach(command).option(asOption, "the same, as an option"),
  async act(parts, input) {
    const { operatorId } = await chosenOperator(parts, input);
    const tenantIds = await chosenTenants(parts.identity, input);
    const changed = await parts.operators.setAccess(operatorId, { role: text(input, "role"), tenantIds });
    const detail = { name: changed.name, role: changed.role, tenants: tenantIds.map(String), ...endedWith(changed) };
    return { answer: shownChange(changed, await tenantNames(parts.identity)), changed: { detail } };
  },
  toText: (answer) =>
    `${answer.name} is ${answer.role} now, for ${tenantsInWords(answer)}.${invitationsInWords(answer)}`,
};

type Change = "suspend" | "resume" | "remove";

function changing(verb: Change, meaning: string, done: string): AdminCommand {
  return {
    name: `operator ${verb}`,
    meaning,
    examples: [`operator ${verb} grace`],
    arguments: [operatorArgument],
    options: (command) => command.option(asOption, "the same, as an option"),
    async act(parts, input) {
      const { operatorId } = await chosenOperator(parts, input);
      const changed = await parts.operators[verb](operatorId);
      const answer = shownChange(changed, await tenantNames(parts.identity));
      return { answer, changed: { detail: { name: changed.name, ...endedWith(changed) } } };
    },
    toText: (answer) => `${answer.name} ${done}${invitationsInWords(answer)}`,
  };
}

function shownChange(changed: ChangedOperator, names: ReadonlyMap<number, string>) {
  return { ...shown(changed, names), invitationsEnded: changed.invitationsEnded };
}

/** For the audit log, if there is something to say. */
function endedWith({ invitationsEnded }: ChangedOperator) {
  return invitationsEnded > 0 ? { invitationsEnded } : {};
}

function invitationsInWords({ invitationsEnded }: Answer): string {
  return invitationsEnded > 0 ? ` ${counted(invitationsEnded, "waiting invitation")} ended.` : "";
}

function shown(operator: OperatorRecord, names: ReadonlyMap<number, string>) {
  const { operatorId, name, role, reachesAll, tenantIds, isSuspended, createdMs, signedInMs } = operator;
  return {
    operatorId,
    name,
    role,
    allTenants: reachesAll,
    tenants: namedTenants(tenantIds, names),
    suspended: isSuspended,
    created: new Date(createdMs).toISOString(),
    signedIn: signedInMs === null ? null : new Date(signedInMs).toISOString(),
  };
}

export const operator: Noun = {
  name: "operator",
  alias: "operators",
  meaning: "the people who run this service, and their tokens",
  groups: {
    token: "tokens with which programs act as an operator",
    sessions: "signed-in browsers of operators",
    invitations: "links with which other people become operators",
  },
  commands: [
    claim,
    list,
    invite,
    show,
    role,
    changing("suspend", "suspend an operator; all their sessions and tokens end at once", "is suspended."),
    changing("resume", "let a suspended operator sign in again", "can sign in again."),
    changing("remove", "remove an operator with their sessions and tokens", "is removed."),
    ...tokenCommands,
    ...sessionCommands,
    ...invitationCommands,
  ],
};
