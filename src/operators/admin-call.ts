import type { Schema } from "../model/json-schema.ts";
import type { Operator } from "./operator.ts";
import type { OperatorRule } from "./operator-rule.ts";

/** The path of all calls of administrators. */
export const adminPath = "/admin/v1";

/** A command of administrators as a call over HTTP. The command's act is the work; this is its address and its rule. */
export interface AdminCall extends OperatorRule {
  /** The name of the command: `user add`. */
  readonly act: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below `adminPath`. A path parameter has the name of the command's option. */
  readonly path: string;
  readonly summary: string;
  readonly words?: readonly string[];
  /** Further options of the command: in the query of a read or a removal, otherwise members of the JSON body. */
  readonly fields?: readonly AdminField[];
  /** The console shows the answer. */
  readonly showsAnswer?: true;
  /** For pages and programs alone: no command does it. */
  readonly isWithoutCommand?: true;
  /** A list of which each answer holds one page. */
  readonly isPaged?: true;
  readonly answer: Schema;
  readonly example: object;
  /** The error code when it does not exist, `not_found` by default; null for a call that makes what does not exist. */
  readonly absentCode?: string | null;
}

export interface AdminField {
  /** The name of the command's option. */
  readonly option: string;
  /** The name over HTTP; by default the option's in camel case. */
  readonly member?: string;
  readonly kind: "text" | "texts" | "flag" | "number" | "object";
  readonly meaning: string;
  readonly isRequired?: true;
  /** On a command line its value follows the command without its name. */
  readonly isArgument?: true;
  readonly example?: unknown;
}

/** An operator who acts, and from which address. */
export interface ActingOperator {
  readonly operator: Operator;
  readonly source: string;
}

/** Runs commands of administrators for an operator. */
export interface AdminActs {
  readonly calls: readonly AdminCall[];
  /**
   * Rejects with OperatorForbidden or PasswordNeeded when the operator may not do it. A tenant that the operator does not
   * reach looks as if it did not exist. A change is audited with the operator's name.
   */
  runAs(by: ActingOperator, act: string, input: Readonly<Record<string, unknown>>): Promise<object>;
}

/** A sentence about options of a command, in the words of callers over HTTP: `--page-size` is `pageSize`. */
export function inMemberNames(sentence: string): string {
  return sentence.replace(/(?<![\w-])--([a-z]+(?:-[a-z]+)*)/g, (_, option: string) => memberName({ option }));
}

/** `redirect-uri` is `redirectUri` for callers over HTTP. */
export function memberName({ option, member }: Pick<AdminField, "option" | "member">): string {
  return member ?? option.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
