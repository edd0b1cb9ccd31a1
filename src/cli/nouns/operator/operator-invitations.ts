import type { WaitingInvitation } from "../../../operators/one-time-links.ts";
import type { AdminCommand, Answer } from "../../administration/admin-command.ts";
import { ago } from "../../devices/times.ts";
import { text } from "../../input.ts";
import { counted, table, whole } from "../../terminal/output.ts";
import { tenantNames } from "../tenant-option.ts";
import { namedTenants, tenantsInWords } from "./tenants-in-words.ts";

const list: AdminCommand = {
  name: "operator invitations list",
  meaning: "list the invitations that nobody has used, without their links",
  examples: ["operator invitations list"],
  async act({ operators, identity }) {
    const names = await tenantNames(identity);
    return { answer: { invitations: (await operators.listInvitations()).map((one) => shown(one, names)) } };
  },
  toText({ invitations }, _typed, width) {
    if (invitations.length === 0) return "No invitation waits. See: breezeway operator invite --help";
    return table(
      [whole("INVITATION"), "NAME", "ROLE", "TENANTS", "CREATED", "EXPIRES"],
      (invitations as Answer[]).map((one) => [
        one.invitationId,
        one.name ?? "any",
        one.role,
        tenantsInWords(one),
        ago(Date.parse(one.created)),
        one.expires.slice(0, 10),
      ]),
      width,
    );
  },
};

const end: AdminCommand = {
  name: "operator invitations end",
  meaning: "end an invitation at once, or all invitations for a name",
  examples: ["operator invitations end oi_…", "operator invitations end grace"],
  arguments: [{ name: "invitation", meaning: "its id, or the invited name; see: breezeway operator invitations list" }],
  options: (command) => command.option("--invitation <id or name>", "the same, as an option"),
  async act({ operators, identity }, input) {
    const ended = await operators.endInvitations(text(input, "invitation"));
    const names = await tenantNames(identity);
    return {
      answer: { invitations: ended.map((one) => shown(one, names)) },
      changed: { detail: { name: ended[0]?.name ?? undefined, invitations: ended.map(({ id }) => id) } },
    };
  },
  toText: ({ invitations }) => `${counted(invitations.length, "invitation")} ended.`,
};

function shown(invitation: WaitingInvitation, names: ReadonlyMap<number, string>) {
  const { id, name, role, reachesAll, tenantIds, createdMs, expiresMs } = invitation;
  return {
    invitationId: id,
    name,
    role,
    allTenants: reachesAll,
    tenants: namedTenants(tenantIds, names),
    created: new Date(createdMs).toISOString(),
    expires: new Date(expiresMs).toISOString(),
  };
}

export const invitationCommands: readonly AdminCommand[] = [list, end];
