import type { Row } from "../row.ts";
import { reportCosts } from "./assistant-reports.ts";
import { requestCosts } from "./assistant-requests.ts";

/** What assistants cost: one change that is told, a discovery, and a command. */
export const assistants: Row = {
  name: "assistants",
  measure: async (progress) => [...(await reportCosts(progress)), ...(await requestCosts(progress))],
};
