import type { AdminAct } from "../administration/admin-command.ts";

/** Where the running service listens: flags, or a free port, may have made that other than the settings say. */
export const listening: AdminAct = {
  name: "listening",
  act: async (_parts, _input, service) => ({ answer: { listensAt: service?.listensAt } }),
};
