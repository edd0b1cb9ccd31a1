import type { TraitName } from "../../../home/catalogue.ts";
import type { Command } from "../../../home/command-plan.ts";
import type { CurrentThing } from "../../current-thing.ts";
import type { AlexaError } from "../errors.ts";

/** An interface of Alexa, such as `Alexa.PowerController`, on the traits of a thing: one file each. */
export interface AlexaInterface {
  readonly namespace: `Alexa.${string}`;
  /** An endpoint may have several toggles or ranges, which their instances tell apart. */
  readonly instance?: string;
  /** The traits whose state it shows. */
  readonly traits: readonly TraitName[];
  /**
   * The endpoint counts as unreachable while it has no value. Of an unreachable endpoint a value is shown only if this is
   * false for it.
   */
  readonly mustBeKnown?: (value: unknown) => boolean;
  /** Some of its properties have no value in some modes: none is declared retrievable. */
  readonly mayLackValues?: true;
  /** What discovery says of it; undefined when the thing does not have it. */
  offer(thing: OfferedThing): Offer | undefined;
  /** The properties that have a value in the present mode. Those that are not offered are left out of messages. */
  values(thing: OfferedThing): readonly Value[];
  /** The directives by name: each becomes a command to the thing. */
  readonly directives: Readonly<Record<string, (payload: Payload, thing: OfferedThing) => Command | AlexaError>>;
}

/** What an interface looks at: the traits, and what commands can set. */
export type OfferedThing = Pick<CurrentThing, "traits" | "settable">;

export interface Offer {
  /** The names of the properties. */
  readonly names: readonly string[];
  /** Further members of the capability. */
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface Value {
  readonly name: string;
  readonly value: unknown;
  /** The fields that it comes from. */
  readonly from: readonly SourceField[];
}

export type SourceField = readonly [trait: TraitName, field: string];

export type Payload = Readonly<Record<string, unknown>>;
