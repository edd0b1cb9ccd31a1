import type { TestContext } from "node:test";
import type { FailureLimits } from "../../src/identity/failure-limits.ts";
import type { TenantId } from "../../src/model/ids.ts";
import { operatorsOn } from "../../src/operators/operators.ts";
import { madeIdentity, password } from "../identity/made-identity.ts";
import { cheapPasswords } from "../set-up/cheap-passwords.ts";

type Check = (failuresOfSource: number) => unknown;

export const origin = { source: "192.0.2.1", userAgent: "Browser" };

/** Operators on a store of their own, with a clock that the test moves. */
export async function madeOperators(t: TestContext) {
  const { identity, store, clock } = await madeIdentity(t, cheapPasswords);
  const reached: string[] = [];
  const { passwords, audit } = identity;
  /** How often the address has failed before; the limits themselves are tested elsewhere. */
  const failures = { before: 0, accounts: [] as string[] };
  const failureLimits = {
    attempt(account: string, _source: string, check: Check) {
      failures.accounts.push(account);
      return check(failures.before);
    },
  };
  /** Transactions fail while there is an error. */
  const connection: { error?: Error } = {};
  const operators = operatorsOn({
    store: {
      isShared: false,
      read: (body) => store.read(body),
      transaction: (body) => (connection.error ? Promise.reject(connection.error) : store.transaction(body)),
    },
    passwords,
    audit,
    failureLimits: failureLimits as unknown as FailureLimits,
    onLimitReached: (limit) => void reached.push(limit),
  });
  const { tenantId } = await identity.addTenant({ name: "Acme" });
  const join = async (name: string, role = "owner", tenantIds: readonly TenantId[] = []) => {
    const link = await operators.invite({ name, role, tenantIds });
    const session = await operators.takeLink("invitation", link, { name: "ignored", password, tenant: "", ...origin });
    return { session, operator: await operators.bySession(session) };
  };
  return { operators, store, clock, reached, tenantId, identity, join, failures, connection };
}
