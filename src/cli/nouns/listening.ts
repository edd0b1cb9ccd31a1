import type { AdminAct } from "../administration/admin-command.ts";

/** The address of the running service; because of flags, or of a free port, it may differ from the settings. */
export const listening: AdminAct = {
  name: "listening",
  act: async (_parts, _input, service) => ({ answer: { listensAt: service?.listensAt } }),
};
