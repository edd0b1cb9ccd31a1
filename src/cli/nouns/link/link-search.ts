import type { FoundLink } from "../../../federation/link-overview.ts";
import { BadParameter } from "../../../model/errors.ts";
import type { UserId } from "../../../model/ids.ts";
import type { AdminCommand, AdministrationParts, Answer } from "../../administration/admin-command.ts";
import { mostPerPage, wantedPage } from "../../administration/paging.ts";
import { hasFlag, type Input, optional } from "../../input.ts";
import { table } from "../../terminal/output.ts";
import { chosenTenant, tenantNames, withTenantOption } from "../tenant-option.ts";
import { linkAnswer, linkStateInWords } from "./link-facts.ts";

/** Without a page, as on a command line. */
const mostFound = 10_000;
const dayMs = 86_400_000;

export const findLinks: AdminCommand = {
  name: "link find",
  meaning: "find links by state, over all users of a tenant or of all tenants",
  examples: ["link find --state needs_reauth", 'link find --tenant Acme --filter "maple street"'],
  options: (command) =>
    withTenantOption(command)
      .option("--state <state>", "only links of this state, such as stale, waiting or needs_reauth")
      .option("--alarm", "only links of homes in which a smoke or CO alarm sounds")
      .option("--filter <text>", "only links whose home, user, ecosystem or device contains this text"),
  async act(parts, input) {
    const names = await tenantNames(parts.identity);
    const { links, cursor } = await search(parts, input);
    const [blind, sounding] = await Promise.all([
      parts.blindTimes(links.slice(0, mostPerPage), dayMs),
      parts.homes.soundingDevices(links),
    ]);
    const answers = links.map((link) => ({
      ...shown(link, names, blind, parts.nameOfNode),
      alarm: sounding.has(link.deviceId),
    }));
    return { answer: { links: answers, ...(cursor !== undefined && { cursor }) } };
  },
  toText({ links, cursor }, _typed, width) {
    if (links.length === 0) return "There is no such link.";
    const listed = table(
      ["HOME", "USER", "NAME", "TENANT", "ECOSYSTEM", "DEVICE", "STATE", "REASON"],
      (links as Answer[]).map((one) => [
        one.homeName ?? "-",
        one.userId,
        one.userName,
        one.tenant,
        one.ecosystem,
        one.deviceId,
        linkStateInWords(one),
        one.reason,
      ]),
      width,
    );
    return cursor === undefined ? listed : `${listed}\nOnly the first ${links.length} links are listed.`;
  },
};

async function search({ identity, foundLinks }: AdministrationParts, input: Input) {
  const tenantId = await chosenTenant(identity, input);
  const [state, text] = [optional(input, "state"), optional(input, "filter")];
  const page = wantedPage(input);
  const limit = page?.limit ?? mostFound;
  const after = page?.after === undefined ? undefined : placeOf(page.after);
  const links: FoundLink[] = [];
  const tenantIds = tenantId === undefined ? undefined : [tenantId];
  for await (const some of foundLinks({ tenantIds, after, text, state, isSounding: hasFlag(input, "alarm") })) {
    links.push(...some);
    if (links.length > limit) {
      const last = links[limit - 1]!;
      return { links: links.slice(0, limit), cursor: `${last.userId}.${last.ecosystem}` };
    }
  }
  return { links };
}

function placeOf(cursor: string): { readonly userId: UserId; readonly ecosystem: string } {
  const [, userId, ecosystem] = /^([1-9][0-9]{0,9})\.([\x21-\x7e]{1,100})$/.exec(cursor) ?? [];
  if (userId === undefined || ecosystem === undefined) {
    throw new BadParameter("cursor", "The cursor is not one of this list. Start without it.");
  }
  return { userId: Number(userId) as UserId, ecosystem };
}

export const countLinks: AdminCommand = {
  name: "link counts",
  meaning: "count links by state",
  examples: ["link counts", "link counts --tenant Acme"],
  options: withTenantOption,
  async act({ identity, linkCounts }, input) {
    const tenantId = await chosenTenant(identity, input);
    const counts = await linkCounts(tenantId === undefined ? undefined : [tenantId]);
    return { answer: { states: [...counts].sort().map(([state, count]) => ({ state, count })) } };
  },
  toText({ states }) {
    if (states.length === 0) return "There are no links.";
    return table(
      ["STATE", "LINKS"],
      (states as Answer[]).map(({ state, count }) => [state, count]),
    );
  },
};

function shown(
  link: FoundLink,
  names: ReadonlyMap<number, string>,
  blind: ReadonlyMap<number, number>,
  nameOfNode: AdministrationParts["nameOfNode"],
) {
  const { homeName, userId, userName, tenantId, node, blindSinceMs } = link;
  const blindSince = blindSinceMs === null ? null : new Date(blindSinceMs).toISOString();
  return {
    homeName,
    userId,
    userName,
    tenant: names.get(tenantId),
    ...linkAnswer(link),
    node,
    nodeName: node === null ? null : nameOfNode(node),
    blindSince,
    blindMsOfDay: blind.get(link.deviceId) ?? null,
  };
}
