import type { AdminCommand } from "../admin-command.ts";
import type { Noun } from "../noun.ts";
import { rows } from "../output.ts";

const show: AdminCommand = {
  name: "status",
  meaning: "tell how the service stands",
  examples: ["status", "status --json"],
  async act({ identity, links }, _, service) {
    const counts = Object.fromEntries((await links()).map(({ state, count }) => [state, count]));
    const running = service ? { running: true, baseUrl: service.baseUrl } : { running: false };
    return { answer: { ...running, tenants: (await identity.listTenants()).length, links: counts } };
  },
  tell({ running, baseUrl, tenants, links }) {
    const counted = Object.entries(links).map(([state, count]) => `${count} ${state}`);
    return rows([
      ["service", running ? `running at ${baseUrl}` : "not running"],
      ["tenants", tenants],
      ["links", counted.join(", ") || "none"],
    ]);
  },
};

/** The one command that needs no verb. */
export const status: Noun = { name: "status", meaning: show.meaning, commands: [show] };
