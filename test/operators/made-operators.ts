import type { TestContext } from "node:test";
import type { TenantId } from "../../src/model/ids.ts";
import { operatorsOn } from "../../src/operators/operators.ts";
import { madeIdentity, password } from "../identity/made-identity.ts";
import { cheapPasswords } from "../set-up/cheap-passwords.ts";

export const origin = { source: "192.0.2.1", userAgent: "Browser" };

/** Operators on a store of their own, with a clock that the test moves. */
export async function madeOperators(t: TestContext) {
  const { identity, store, clock } = await madeIdentity(t, cheapPasswords);
  const reached: string[] = [];
  const { passwords, failureLimits, audit } = identity;
  const onLimitReached = (limit: string) => void reached.push(limit);
  const operators = operatorsOn({ store, passwords, failureLimits, audit, onLimitReached });
  const { tenantId } = await identity.addTenant({ name: "Acme" });
  const join = async (name: string, role = "owner", tenantIds: readonly TenantId[] = []) => {
    const link = await operators.invite({ name, role, tenantIds });
    const session = await operators.takeLink("invitation", link, { name: "ignored", password, tenant: "", ...origin });
    return { session, operator: await operators.bySession(session) };
  };
  return { operators, store, clock, reached, tenantId, identity, join };
}
