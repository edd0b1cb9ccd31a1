import { OperatorForbidden, PasswordNeeded } from "../model/errors.ts";
import { mayDo, type Need, type Operator, type Subject } from "./operator.ts";

/** What an act or a route needs of an operator. */
export interface OperatorRule {
  readonly need: Need;
  readonly subject: Subject;
  /** The password must have been typed within the last minutes. Tokens have none: they were made with the password. */
  readonly asksPassword?: true | undefined;
}

/** Refuses what the operator's role does not allow, and what needs the password first. */
export function requireRule(operator: Operator, { need, subject, asksPassword }: OperatorRule): void {
  if (!mayDo(operator, need, subject)) throw new OperatorForbidden();
  if (asksPassword && operator.by.kind === "session" && !operator.by.isConfirmed) throw new PasswordNeeded();
}
