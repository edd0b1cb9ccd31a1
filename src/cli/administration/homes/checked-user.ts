import type { UserId } from "../../../model/ids.ts";

/** Rejects when the operator does not reach the user's tenant. */
export type CheckUser = (userId: UserId) => Promise<unknown>;

/** The same act after a check of its user, for an operator who reaches some tenants only. */
export function checkedBy(check: CheckUser) {
  return <Rest extends readonly unknown[], Result>(act: (userId: UserId, ...rest: Rest) => Promise<Result>) =>
    async (userId: UserId, ...rest: Rest): Promise<Result> => {
      await check(userId);
      return act(userId, ...rest);
    };
}
