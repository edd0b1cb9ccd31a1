import { nodeName } from "../../../model/node-name.ts";
import type { AdminCommand, Answer } from "../../administration/admin-command.ts";
import type { Noun } from "../../noun.ts";
import { rows } from "../../terminal/output.ts";
import { chosenTenant, withTenantOption } from "../tenant-option.ts";

const show: AdminCommand = {
  name: "activity",
  meaning: "show sign-ins, deliveries, changes, blind time and states of links of the last 24 hours",
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
        ...(nodes?.changes && { changes: nodes.changes }),
        ...(nodes?.countedSinceMs !== undefined && { countedSince: new Date(nodes.countedSinceMs).toISOString() }),
        ...(nodes && { silentNodes: nodes.silent }),
      },
    };
  },
  toText({ signIns, failedSignIns, delivered, failed, changes, blind, linkStates, silentNodes = [] }) {
    return rows([
      ["sign-ins", `${sum(signIns)}, ${sum(failedSignIns)} failed`],
      ["deliveries", `${sum(delivered)}, ${sum(failed)} failed attempts`],
      ...(changes === undefined ? [] : [["changes", String(sum(changes))] as const]),
      ["blind", blindInWords(blind)],
      ...linkStates.states.map(({ state, hours }: Answer) => [`links ${state}`, range(hours)] as const),
      ...(uncounted(linkStates) > 0 ? [["links unknown", `in ${uncounted(linkStates)} of 24 hours`] as const] : []),
      ...(silentNodes.length > 0
        ? [["not counted", `changes on ${silentNodes.map(nodeName).join(", ")}: no answer`] as const]
        : []),
    ]);
  },
};

/** Of very many links the first ones are counted. */
function blindInWords({ ms, blindLinks, links, isAll }: Answer): string {
  return `${Math.round(ms / 60_000)} min, of ${blindLinks} of ${isAll ? "" : "the first "}${links} links`;
}

function sum(hours: Answer): number {
  return (hours as readonly number[]).reduce((total, count) => total + count, 0);
}

/** `9 to 12` of the hours that were counted. */
function range(hours: Answer): string {
  const known = (hours as readonly (number | null)[]).filter((count) => count !== null);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  return least === most ? String(least) : `${least} to ${most}`;
}

function uncounted({ isCounted }: Answer): number {
  return (isCounted as readonly boolean[]).filter((is) => !is).length;
}

export const activity: Noun = { name: "activity", meaning: show.meaning, commands: [show] };
