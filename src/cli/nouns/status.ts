import type { AdminCommand, Answer } from "../administration/admin-command.ts";
import { ago, secondOf } from "../devices/times.ts";
import type { Noun } from "../noun.ts";
import { rows } from "../terminal/output.ts";

const show: AdminCommand = {
  name: "status",
  meaning: "show whether the service runs, and the states of its links",
  examples: ["status", "status --json"],
  async act({ identity, links }, _, service) {
    const { nodes, counts } = await links();
    // Nodes may run on other machines, on the same PostgreSQL.
    const running = service
      ? { running: true, baseUrl: service.baseUrl }
      : nodes > 0
        ? { running: true, nodes }
        : { running: false };
    const unfollowed = counts.find(({ state }) => state === "not_followed");
    return {
      answer: {
        ...running,
        tenants: (await identity.listTenants()).length,
        links: Object.fromEntries(counts.map(({ state, count }) => [state, count])),
        ...(unfollowed && { notFollowedSince: unfollowed.confirmedMs }),
      },
    };
  },
  toText({ running, baseUrl, nodes, tenants, links, notFollowedSince }) {
    const counted = Object.entries(links).map(([state, count]) =>
      state === "not_followed"
        ? `${count} not followed since ${secondOf(notFollowedSince)} (${ago(notFollowedSince)})`
        : `${count} ${state}`,
    );
    return rows([
      ["service", serviceInWords({ running, baseUrl, nodes })],
      ["tenants", tenants],
      ["links", counted.join(", ") || "none"],
    ]);
  },
};

function serviceInWords({ running, baseUrl, nodes }: Answer): string {
  if (baseUrl !== undefined) return `running at ${baseUrl}`;
  return running ? `running, ${nodes === 1 ? "1 node" : `${nodes} nodes`}` : "not running";
}

/** The only noun without a verb. */
export const status: Noun = { name: "status", meaning: show.meaning, commands: [show] };
