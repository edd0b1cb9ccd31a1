import type { Step } from "./step.ts";

/**
 * When the removal of a large user last went on; null when none has begun. A node that does not know this step removes
 * users without the mark: a removal that it leaves unfinished is not taken up.
 */
export const removals: Step = ({ integer }) => [`ALTER TABLE users ADD COLUMN removal_ms ${integer}`];

/** Pages of a tenant's users in the order of their ids. Without it each page would sort all of them. */
export const usersOfTenant: Step = { index: "users_of_tenant", on: "users (tenant_id, id)" };

export const usersBeingRemoved: Step = {
  index: "users_being_removed",
  on: "users (removal_ms) WHERE removal_ms IS NOT NULL",
};
