import type { Exchange, Report } from "./journal.ts";

/** A device as an assistant knows it. */
export interface KnownDevice {
  readonly id: string;
  readonly name: string;
  /** The kind of device, in a word. */
  readonly kind: string;
  /** Undefined for an assistant that is not told rooms. */
  readonly room: string | undefined;
  /** What a person can ask of it. */
  readonly abilities: readonly string[];
  /** The state that the assistant was told last, in words; undefined before it was told one. */
  readonly state: string | undefined;
  readonly isReachable: boolean;
  /** When the assistant was told the state. */
  readonly reportedMs: number | undefined;
}

/** A maker's voice assistant with the account of one person. */
export interface SimulatedAssistant {
  readonly title: string;
  /** Newest first. */
  readonly exchanges: readonly Exchange[];
  /** What the cloud told the maker by itself. Newest first. */
  readonly reports: readonly Report[];
  /** Why the assistant can't use the account; undefined while it can. */
  readonly problem: string | undefined;
  devices(): readonly KnownDevice[];
  /** Sentences that fit the known devices. */
  examples(): readonly string[];
  /** Links the account of the person, and learns its devices. */
  link(): Promise<void>;
  /** Learns the devices of the account again. */
  discover(): Promise<void>;
  /** Does what the sentence asks for. What comes of it is the newest exchange. */
  say(sentence: string): Promise<void>;
}
