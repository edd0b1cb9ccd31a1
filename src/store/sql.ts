import type { Hint } from "./node-bus.ts";

/**
 * One open transaction, as the files of `tables/` use it. A statement is written once, with `$1`, where both databases
 * accept it. Where they differ (locks, bulk writes), both versions are in the table's file and `dialect` selects one.
 */
export interface Sql {
  readonly dialect: Dialect;
  all<Row>(text: string, parameters?: readonly Parameter[]): Promise<Row[]>;
  /** Returns the number of affected rows. */
  run(text: string, parameters?: readonly Parameter[]): Promise<number>;
  /** Runs a statement without waiting for its result. If it fails, the transaction fails at COMMIT. */
  post(text: string, parameters?: readonly Parameter[]): Promise<void>;
  /** Runs the statement once for each set of parameters. */
  runEach(text: string, parameterSets: readonly (readonly Parameter[])[]): Promise<void>;
  /** The store's clock: that of PostgreSQL, or of the process that uses SQLite. */
  nowMs(): Promise<number>;
  /** Sends the hint to all nodes after the transaction is durable. */
  hint(hint: Hint): void;
}

export type Dialect = "sqlite" | "postgres";
/** Only SQLite gets bytes (compressed-text.ts). */
export type Parameter = string | number | null | Uint8Array | readonly (string | number | null)[];

export async function first<Row>(rows: Promise<Row[]>): Promise<Row | undefined> {
  return (await rows)[0];
}

/**
 * Whether both databases store the text unchanged. PostgreSQL refuses NUL, and both would silently replace half a
 * surrogate pair. Text from outside is cleaned first (model/clean-text.ts).
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** Checks a parameter. Both databases call it for every parameter, so that no table can forget the check. */
export function storable(parameter: Parameter): Parameter {
  if (typeof parameter === "string" && !isStorable(parameter)) throw new UnstorableText();
  if (Array.isArray(parameter)) for (const element of parameter) storable(element);
  return parameter;
}

/** A bug in Breezeway: text from outside must be cleaned or refused before it reaches the store. */
export class UnstorableText extends Error {
  constructor() {
    super("text with NUL or half a surrogate pair can't be stored");
    this.name = "UnstorableText";
  }
}
