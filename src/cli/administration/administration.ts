import type { AuditEntry } from "../../identity/audit.ts";
import { BadParameter, NotFound } from "../../model/errors.ts";
import type { ActingOperator, AdminActs } from "../../operators/admin-call.ts";
import { localName, mayDo, reachedTenants } from "../../operators/operator.ts";
import { requireRule } from "../../operators/operator-rule.ts";
import type { SystemUser } from "../../runtime/process/system-user.ts";
import type { Input } from "../input.ts";
import { isAdmin } from "../noun.ts";
import { deviceOwners } from "../nouns/device/device-owners.ts";
import { linkFacts } from "../nouns/link/link-facts.ts";
import { listening } from "../nouns/listening.ts";
import { keepVerification } from "../nouns/verify/verification.ts";
import { nouns } from "../nouns.ts";
import type { ReportProgress } from "../terminal/progress.ts";
import type { AdminAct, AdministrationParts, Changed, ServiceFacts } from "./admin-command.ts";
import { adminCalls } from "./calls/calls.ts";
import { accessAct } from "./command-access.ts";
import { namesAct } from "./names.ts";
import { partsWithin } from "./parts-within.ts";
import { withPlainAddresses } from "./plain-addresses.ts";

/** The acts of administrators, by the names of their commands. */
export interface Administration extends AdminActs {
  /** Runs a command on the machine itself, where its caller may do everything. */
  run(command: string, input: unknown, context?: MachineContext): Promise<object>;
}

/** What surrounds a command on the machine. */
export interface MachineContext {
  /** Undefined while no service runs. */
  readonly service?: ServiceFacts | undefined;
  readonly onProgress?: ReportProgress | undefined;
  /** Recorded in the audit log. Undefined for a command of an earlier version. */
  readonly caller?: SystemUser | undefined;
}

/** `facts` tells what a running service knows about itself, for acts of operators. */
export function administrationOn(parts: AdministrationParts, facts: () => ServiceFacts | undefined): Administration {
  const typed = nouns.flatMap((noun) => noun.commands).filter(isAdmin);
  const acts = new Map<string, AdminAct>();
  for (const act of [...typed, accessAct(), deviceOwners, linkFacts, listening, keepVerification, namesAct])
    acts.set(act.name, act);
  const calls = new Map(adminCalls.map((call) => [call.act, call]));

  function actOf(name: string): AdminAct {
    const found = acts.get(name);
    if (found) return found;
    throw new NotFound(`There is no command "${name}" in this version of the service.`);
  }

  async function perform(
    { name, act }: AdminAct,
    parts: AdministrationParts,
    input: Input,
    {
      caller,
      ...who
    }: { readonly operator: string; readonly source: string; readonly caller?: SystemUser | undefined },
    { service, onProgress = () => undefined }: Omit<MachineContext, "caller">,
  ): Promise<object> {
    refuseUnstorable(input);
    const administer = (command: string, more: object) =>
      perform(actOf(command), parts, more as Input, { caller, ...who }, { service });
    const { audit } = parts.identity;
    const entryOf = (changed: Changed): AuditEntry => {
      const detail = { command: name, ...changed.detail, ...caller };
      return { act: "admin", ...who, ...changed, detail };
    };
    const unfinishedEntry = (changed: Changed) =>
      entryOf({ ...changed, detail: { ...changed.detail, unfinished: true } });
    const recordUnfinished = (changed: Changed) => audit.record(unfinishedEntry(changed));
    const actParts = { ...parts, administer, recordUnfinished, unfinishedEntry };
    const { answer, changed } = await act(actParts, input, service, onProgress);
    if (changed) await audit.record(entryOf(changed));
    return answer;
  }

  return {
    calls: adminCalls,
    async run(name, input, { service, onProgress, caller } = {}) {
      const who = { operator: localName, source: "command", caller };
      return perform(actOf(name), parts, (input ?? {}) as Input, who, { service, onProgress });
    },
    async runAs({ operator, source }: ActingOperator, name, input) {
      const [command, call] = [acts.get(name), calls.get(name)];
      if (!command || !call) throw new NotFound(`There is no call for "${name}" in this version of the service.`);
      requireRule(operator, call);
      const reached = partsWithin(parts, reachedTenants(operator));
      const maySeeSecrets = mayDo(operator, "secret", "tenants");
      const webhooks = maySeeSecrets ? reached.webhooks : withPlainAddresses(reached.webhooks);
      const within = { ...reached, webhooks, operator };
      return perform(command, within, input, { operator: operator.name, source }, { service: facts() });
    },
  };
}

/** Neither database takes such text, not even as a filter of a list. */
function refuseUnstorable(input: Input): void {
  for (const [option, value] of Object.entries(input)) {
    for (const text of Array.isArray(value) ? value : [value]) {
      if (typeof text === "string" && (!text.isWellFormed() || text.includes("\0"))) {
        throw new BadParameter(option, `${option} must not contain a NUL character or half a surrogate pair.`);
      }
    }
  }
}
