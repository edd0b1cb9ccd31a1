import { type AccountDocument, readAccountDocument } from "../home/account-document.ts";
import type { Home } from "../home/home.ts";
import type { JsonObject } from "../home/json.ts";
import type { Random } from "../home/random.ts";
import { impossible } from "../refusal.ts";

/** Told after each change, with the document as it was before. */
export type Announce = (account: Account, before: JsonObject) => void;

/** An account as it is written down between two runs. */
export interface KeptAccount {
  readonly accountId: string;
  readonly revision: number;
  readonly home: Home;
  readonly foreign?: JsonObject;
}

/** One account of the ecosystem over time. Each change gives its document a new revision and is announced once. */
export class Account {
  readonly accountId: string;
  readonly random: Random;
  /** When somebody last did something here, a person or a program: everyday life gives way to them. */
  touchedMs = Number.NEGATIVE_INFINITY;
  readonly #announce: Announce;
  #home: Home;
  /** A document from outside that is no account document: it is sent as it is, but nothing can happen in it. */
  #foreign: JsonObject | undefined;
  #revision = 1;

  constructor(accountId: string, home: Home, random: Random, announce: Announce, kept?: KeptAccount) {
    this.accountId = accountId;
    this.random = random;
    this.#home = home;
    this.#announce = announce;
    this.#foreign = kept?.foreign;
    this.#revision = kept?.revision ?? 1;
  }

  /** All that must be known to go on with this account later. */
  get kept(): KeptAccount {
    const { accountId, revision } = this;
    return { accountId, revision, home: this.#home, ...(this.#foreign && { foreign: this.#foreign }) };
  }

  get document(): JsonObject {
    return this.#foreign ?? (this.#home.document as JsonObject);
  }

  get revision(): number {
    return this.#revision;
  }

  /** The document as scenes and writes read it; undefined while it can't be read so. */
  get readable(): AccountDocument | undefined {
    return this.#foreign === undefined ? this.#home.document : undefined;
  }

  /** The home for a scene; refused while the document is no account document. */
  get home(): Home {
    if (this.#foreign === undefined) return this.#home;
    throw impossible("The account's document was replaced by one in which no scene can be played.");
  }

  change(home: Home): void {
    const before = this.document;
    this.#home = home;
    this.#foreign = undefined;
    this.#revise(before);
  }

  replaceDocument(document: JsonObject): void {
    const before = this.document;
    const readable = readAccountDocument(document);
    if (readable !== undefined) this.#home = { ...this.#home, document: readable };
    this.#foreign = readable === undefined ? document : undefined;
    this.#revise(before);
  }

  #revise(before: JsonObject): void {
    this.#revision++;
    this.#announce(this, before);
  }
}
