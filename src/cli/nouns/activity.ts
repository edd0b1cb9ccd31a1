import type { FoundLink } from "../../federation/link-overview.ts";
import type { TenantId } from "../../model/ids.ts";
import type { AdminCommand, AdministrationParts, Answer } from "../administration/admin-command.ts";
import type { Noun } from "../noun.ts";
import { rows } from "../terminal/output.ts";
import { chosenTenant, withTenantOption } from "./tenant-option.ts";

const dayMs = 86_400_000;
/** Links whose blind time is added up, and how many are read at once. */
const linksCounted = 1_000;
const linksAtOnce = 200;

const show: AdminCommand = {
  name: "activity",
  meaning: "show sign-ins, deliveries, changes and blind time of the last 24 hours",
  examples: ["activity", "activity --tenant Acme --json"],
  options: withTenantOption,
  async act(parts, input) {
    const tenantId = await chosenTenant(parts.identity, input);
    const tenantIds = tenantId === undefined ? undefined : [tenantId];
    const { sinceMs, nodes, ...hours } = await parts.activity(tenantIds);
    return {
      answer: {
        since: new Date(sinceMs).toISOString(),
        ...hours,
        blind: await blindTime(parts, tenantIds),
        ...(nodes && {
          changes: nodes.changes,
          countedSince: new Date(nodes.countedSinceMs).toISOString(),
          silentNodes: nodes.silent,
        }),
      },
    };
  },
  toText({ signIns, failedSignIns, delivered, failed, changes, blind }) {
    return rows([
      ["sign-ins", `${sum(signIns)}, ${sum(failedSignIns)} failed`],
      ["deliveries", `${sum(delivered)}, ${sum(failed)} failed`],
      ...(changes === undefined ? [] : [["changes", String(sum(changes))] as const]),
      ["blind", `${Math.round(blind.ms / 60_000)} min, of ${blind.blindLinks} of ${blind.links} links`],
    ]);
  },
};

async function blindTime({ foundLinks, blindTimes }: AdministrationParts, tenantIds: readonly TenantId[] | undefined) {
  const links: FoundLink[] = [];
  for await (const some of foundLinks({ tenantIds })) {
    links.push(...some);
    if (links.length >= linksCounted) break;
  }
  const counted = links.slice(0, linksCounted);
  let [ms, blindLinks] = [0, 0];
  for (let from = 0; from < counted.length; from += linksAtOnce) {
    for (const blindMs of (await blindTimes(counted.slice(from, from + linksAtOnce), dayMs)).values()) {
      ms += blindMs;
      if (blindMs > 0) blindLinks++;
    }
  }
  return { ms, blindLinks, links: counted.length, isAll: links.length <= linksCounted };
}

function sum(hours: Answer): number {
  return (hours as readonly number[]).reduce((total, count) => total + count, 0);
}

export const activity: Noun = { name: "activity", meaning: show.meaning, commands: [show] };
