import type { Hint } from "./node-bus.ts";

/**
 * One open transaction as the table files see it. Statements are written once with `$1` where both databases agree;
 * where they don't (locking, bulk), the two texts stand side by side and `dialect` chooses.
 */
export interface Sql {
  readonly dialect: Dialect;
  all<Row>(text: string, parameters?: readonly Parameter[]): Promise<Row[]>;
  /** Answers how many rows were touched. */
  run(text: string, parameters?: readonly Parameter[]): Promise<number>;
  /** The same for what nobody has to wait for: should it fail, the whole transaction does. */
  post(text: string, parameters?: readonly Parameter[]): Promise<void>;
  /** The same statement for each set of parameters. */
  runEach(text: string, parameterSets: readonly (readonly Parameter[])[]): Promise<void>;
  /** The store's clock: PostgreSQL's own, or the one that SQLite's process was given. */
  nowMs(): Promise<number>;
  /** Once the transaction is durable, all nodes are told so. */
  hint(hint: Hint): void;
}

export type Dialect = "sqlite" | "postgres";
export type Parameter = string | number | null | readonly (string | number | null)[];

export async function first<Row>(rows: Promise<Row[]>): Promise<Row | undefined> {
  return (await rows)[0];
}

/**
 * Text that both databases keep as it is. PostgreSQL refuses NUL and both would silently replace half a surrogate pair,
 * so such text is refused, alike on both; whoever takes text from outside cleans it first (model/clean-text.ts).
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** Both databases pass every parameter through here, so that no table can forget it. */
export function storable(parameter: Parameter): Parameter {
  if (typeof parameter === "string" && !isStorable(parameter)) throw new UnstorableText();
  if (typeof parameter === "object" && parameter !== null) for (const element of parameter) storable(element);
  return parameter;
}

/** A mistake of ours, not of a caller: text from outside is cleaned or refused before it gets here. */
export class UnstorableText extends Error {
  constructor() {
    super("text with NUL or half a surrogate pair can't be stored");
    this.name = "UnstorableText";
  }
}
