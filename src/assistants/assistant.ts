import type { CommandReceipt } from "../devices/command-receipts.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { AlarmRise } from "../store/tables/assistant-marks.ts";
import type { CurrentThing } from "./current-thing.ts";
import type { CallMaker } from "./maker-call.ts";

/** What the service hands to every kind of assistant. */
export interface AssistantParts {
  readonly call: CallMaker;
  readonly runtime: Runtime;
  readonly newUuid: () => string;
}

export const assistantKinds = ["google-home", "alexa"] as const;

export type AssistantKind = (typeof assistantKinds)[number];

/**
 * What every assistant must offer: how its settings are read, what to enter in the console of its maker, and how changes
 * become messages. Each kind has a folder here and one entry in registry.ts. Nothing outside its folder, and the folder
 * of its routes in outlets/, knows its protocol.
 */
export interface Assistant<Settings extends object = object> {
  readonly kind: AssistantKind;
  /** As people call it. */
  readonly title: string;
  /** What an operator has to name when an outlet is added. */
  readonly settings: readonly SettingDefinition[];
  /** Reads the settings by the names of their options. Throws BadParameter. */
  readSettings(typed: Readonly<Record<string, string>>): Settings;
  /** The settings as operators may see them: without any secret. */
  shownSettings(settings: Settings): Readonly<Record<string, string>>;
  /** The addresses to which the maker's account linking sends users back. */
  redirectUris(settings: Settings): readonly string[];
  /** What the operator enters in the maker's console, in the order of its pages. */
  setUp(settings: Settings, facts: SetUpFacts): readonly SetUpEntry[];
  /** Proves the settings against the maker's service. It changes nothing there. */
  check(settings: Settings, signal: AbortSignal): Promise<readonly CheckedFact[]>;
  /** Which devices a user with these things is offered, if the assistant takes a limited number; left out without a limit. */
  choose?(things: readonly CurrentThing[], settings: Settings): ChosenDevices;
  /** The messages that tell the assistant what is due, in the order of their sending. Without I/O. */
  messages(due: DueReport, settings: Settings): readonly AssistantMessage[];
  /** Sends one message. It never throws for an answer of the assistant. The signal ends the attempt. */
  deliver(message: AssistantMessage, to: Recipient<Settings>, signal: AbortSignal): Promise<Outcome>;
}

/** A setting of an outlet, as an option of `breezeway outlet add`. */
export interface SettingDefinition {
  /** The name of the option. */
  readonly name: string;
  /** `file`: the option names a file, and its content is the value. `secret`: it is asked for without being shown. */
  readonly type: "text" | "file" | "secret";
  readonly meaning: string;
  readonly isOptional?: true;
}

export interface SetUpFacts {
  /** The address of this service for the maker's cloud. */
  readonly baseUrl: string;
  readonly clientId: string;
  /** Known only when the outlet is added. */
  readonly clientSecret?: string | undefined;
}

export interface SetUpEntry {
  /** The page of the maker's console. */
  readonly page: string;
  readonly field: string;
  readonly value: string;
}

export interface CheckedFact {
  readonly fact: string;
  readonly isRight: boolean;
  /** What was found; for a wrong fact also what to do. */
  readonly text: string;
}

/** The devices of a user's things: those that the assistant is offered, and those beyond the number that it takes. */
export interface ChosenDevices {
  readonly offered: readonly ChosenDevice[];
  readonly omitted: readonly ChosenDevice[];
}

export interface ChosenDevice {
  /** The device's id at the assistant. */
  readonly id: string;
  readonly thingId: string;
  readonly name: string;
}

/** What one user's assistant has to be told now. */
export interface DueReport {
  readonly agentUserId: string;
  /** Things to be reported, as they are now; emergencies first. */
  readonly things: readonly DueThing[];
  /** The ids of devices that the assistant is not offered: it hears nothing of them. Left out when there is no limit. */
  readonly omitted?: ReadonlySet<string>;
  /** The ids of devices that an earlier message of this report has removed, although their things stay. */
  readonly withdrawn?: ReadonlySet<string>;
  /** Urgent things whose state an earlier message of this report has told ahead. */
  readonly toldAhead?: ReadonlySet<string>;
  /** Commands whose outcome is told late. */
  readonly replies: readonly DueReply[];
  /** Why the last attempts failed, and how many; null after a success. */
  readonly failed: { readonly attempts: number; readonly problem: string | null } | null;
}

export interface DueThing {
  readonly thingId: string;
  /** The thing as it is now; undefined when nothing is stored of it any more. A gone thing has `goneMs`. */
  readonly current: CurrentThing | undefined;
  /** No field has changed before this without having been reported; 0 when all is to be told. */
  readonly sinceMs: number;
  /** The state is to be reported. */
  readonly wantsState: boolean;
  /** That the thing was added, changed or removed is to be told. */
  readonly wantsSync: boolean;
  /** An alarm started or stopped, or the thing vanished. Urgent things come first. */
  readonly isUrgent: boolean;
  /** Alarms that have risen since the last report, oldest first. */
  readonly rises: readonly AlarmRise[];
}

export interface DueReply {
  readonly thingId: string;
  /** As the route stored it. */
  readonly reply: string;
  /** Undefined: the command has no outcome yet and the assistant waits no longer, or it was removed with its thing. */
  readonly receipt: CommandReceipt | undefined;
  /** The thing after the command; undefined when it is gone. */
  readonly current: CurrentThing | undefined;
}

/** A message to an assistant. It holds no token: `deliver` adds it. */
export interface AssistantMessage {
  /** The assistant's own name of the message. */
  readonly type: string;
  readonly thingIds: readonly string[];
  /** What this message tells: marks of its things are removed accordingly when it is taken. */
  readonly tells: { readonly state: boolean; readonly sync: boolean };
  /** Of each thing, the alarms whose notification is in this message. They are not notified again. */
  readonly rises?: Readonly<Record<string, readonly AlarmRise[]>>;
  /** One thing alone, because a report about several was refused: if the assistant does not know it, it is left out. */
  readonly isAlone?: true;
  /** The ids of devices that this message removes, although their things stay. They are not removed again. */
  readonly withdrawn?: readonly string[];
  /** Urgent states that can't wait for the list of devices. They are told again after it, for things that it adds. */
  readonly isAhead?: true;
  /** The replies, as they were stored, that this message gives. */
  readonly replies?: readonly string[];
  readonly body: object;
}

/** The user's account at the assistant. */
export interface Recipient<Settings extends object = object> {
  readonly outletId: string;
  readonly settings: Settings;
  readonly agentUserId: string;
  readonly region: string | null;
  /** What the assistant gave for this user, as the kind stored it; undefined when there is none. */
  readonly credential: object | undefined;
  /** Stores a renewed credential; false when the user has ended the link meanwhile, or linked again. */
  keepCredential(credential: object): Promise<boolean>;
}

/**
 * The outcome of one attempt. `taken`: accepted. `retry`: try again, not before `afterMs`, by default after a growing
 * back-off. `forget`: the assistant says that the user has ended the link. `refused`: the assistant will not accept this
 * message; its things, or only those in `thingIds`, are told again after `afterMs`, and without it never. `text` is for
 * operators and never holds a token.
 */
export type Outcome =
  | { readonly result: "taken"; readonly status: number }
  | (FailedAttempt & { readonly result: "retry" })
  | (FailedAttempt & { readonly result: "refused"; readonly thingIds?: readonly string[] })
  | { readonly result: "forget"; readonly status: number | null; readonly text: string };

interface FailedAttempt {
  readonly status: number | null;
  readonly text: string;
  readonly afterMs?: number | undefined;
}
