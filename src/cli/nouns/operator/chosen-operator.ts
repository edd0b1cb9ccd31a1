import { NotFound } from "../../../model/errors.ts";
import type { OperatorRecord } from "../../../operators/roster.ts";
import type { AdministrationParts } from "../../administration/admin-command.ts";
import { type Input, optional, text } from "../../input.ts";

/** Owners, and commands on the machine, choose any operator; others only themselves. */
export async function chosenOperator(
  { operators, operator: caller }: AdministrationParts,
  input: Input,
): Promise<OperatorRecord> {
  const named = optional(input, "operator") ?? (caller && String(caller.operatorId));
  if (named === undefined) return operators.find(text(input, "operator"));
  const found = await operators.find(named);
  if (caller && caller.role !== "owner" && found.operatorId !== caller.operatorId) {
    throw new NotFound(`There is no operator ${named}. See all with: breezeway operator list`);
  }
  return found;
}
