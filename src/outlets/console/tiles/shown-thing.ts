import type { TraitName } from "../../../home/catalogue.ts";

/** A thing as tiles show it; the interface for clients has the same members. */
export interface ShownThing {
  readonly thingId: string;
  readonly kind: string;
  readonly name: string | null;
  readonly room: string | null;
  readonly homeName: string | null;
  /** The ecosystem that reports it, or the word for a device of the company's own. */
  readonly source?: string;
  readonly traits: { readonly [Name in TraitName]?: ShownTrait };
}

export interface ShownTrait {
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly state: Readonly<Record<string, ShownField | undefined>>;
}

export interface ShownField {
  readonly value: string | number | boolean | null;
  readonly updateTime: number;
}

/** What became of a command. */
export interface ShownReceipt {
  readonly thingId: string;
  readonly trait: string;
  readonly command: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly state: string;
  readonly error: { readonly code: string; readonly text: string } | null | undefined;
  readonly requestedTime: number;
}
