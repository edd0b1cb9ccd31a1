import { alexaAnswers } from "../../../src/assistants/alexa/answers.ts";
import type { StoredReply } from "../../../src/assistants/alexa/reports.ts";
import type { AssistantCommands } from "../../../src/assistants/commanding.ts";
import { hasOutcome } from "../../../src/assistants/commanding.ts";
import type { CurrentThing } from "../../../src/assistants/current-thing.ts";
import { googleIntents } from "../../../src/assistants/google-home/intents.ts";
import type { AssistantHomes } from "../../../src/assistants/homes.ts";
import type { Outlet } from "../../../src/assistants/outlets.ts";
import type { CommandReceipt } from "../../../src/devices/command-receipts.ts";
import type { TraitName, Traits } from "../../../src/home/catalogue.ts";
import { planCommand, thingAfter } from "../../../src/home/command.ts";
import { commandErrorText, isCommandError } from "../../../src/home/command-errors.ts";
import type { ScopedPrincipal, UserPrincipal } from "../../../src/identity/principal.ts";
import { InvalidToken } from "../../../src/model/errors.ts";
import type { TenantId, UserId } from "../../../src/model/ids.ts";
import { OutgoingCalls } from "../../../src/runtime/network/outgoing-calls.ts";
import { processRuntime } from "../../../src/runtime/process/process-runtime.ts";
import { silent } from "../../contracts/store/home.ts";
import { settings } from "../alexa/settings.ts";
import { changedMs, thing } from "../alexa/things.ts";

/** What becomes of the commands that a thing accepts. */
export type CommandEnd = "confirmed" | "contradicted" | "expired" | "queued";

/** What has changed in a thing and was not reported. */
interface Mark {
  readonly sinceMs: number;
  readonly wantsSync: boolean;
}

const readOnly = ["devices:read"] as const;
const everything = ["devices:read", "devices:control"] as const;

/**
 * The home of one user in memory, with the answers of both assistants. A command that a thing accepts changes it, as
 * its ecosystem would, unless the test says otherwise.
 */
export class MadeHome {
  readonly things: Map<string, CurrentThing>;
  readonly marks = new Map<string, Mark>();
  /** Commands that Alexa was told about as deferred, with what the late answer repeats. */
  readonly deferred: { readonly receipt: CommandReceipt; readonly reply: StoredReply }[] = [];
  nowMs = changedMs + 1_000;
  ends: CommandEnd = "confirmed";
  #messages = 0;

  constructor(things: readonly CurrentThing[]) {
    this.things = new Map(things.map((one) => [one.thingId, one]));
    this.markAll();
  }

  /** As after linking, and when a link turns stale or live. */
  markAll(): void {
    for (const thingId of this.things.keys()) this.#mark(thingId, 0, true);
  }

  /** The trait changes; each field that differs has the present time. */
  show(before: CurrentThing, traits: Traits): void {
    this.nowMs += 1_000;
    const times: Record<string, number> = {};
    for (const [name, trait] of Object.entries(traits) as [TraitName, NonNullable<Traits[TraitName]>][]) {
      const values: Readonly<Record<string, unknown>> = { available: trait.available, ...trait.state };
      for (const [field, value] of Object.entries(values)) {
        const [was, timeMs] = before.state[name]?.[field] ?? [];
        times[`${name}.${field}`] = timeMs !== undefined && was === value ? timeMs : this.nowMs;
      }
    }
    const { kind, state: _, traits: __, capabilities: ___, ...facts } = before;
    this.things.set(before.thingId, thing(kind, traits, facts, times));
    this.#mark(before.thingId, this.nowMs, false);
  }

  /** The thing is called otherwise, or its link turns stale or live, or it is gone. */
  alter(before: CurrentThing, facts: Partial<Pick<CurrentThing, "name" | "isStale" | "goneMs">>): void {
    this.nowMs += 1_000;
    this.things.set(before.thingId, { ...before, ...facts });
    this.#mark(before.thingId, facts.goneMs ?? 0, "name" in facts);
  }

  #mark(thingId: string, sinceMs: number, wantsSync: boolean): void {
    const known = this.marks.get(thingId);
    this.marks.set(thingId, {
      sinceMs: Math.min(sinceMs, known?.sinceMs ?? sinceMs),
      wantsSync: wantsSync || known?.wantsSync === true,
    });
  }

  readonly newMessageId = (): string => `m-${++this.#messages}`;

  readonly homes: AssistantHomes = {
    all: async () => [...this.things.values()].filter(({ goneMs }) => goneMs === null),
    some: async (_, ids) => new Map(ids.flatMap((id) => (this.things.has(id) ? [[id, this.things.get(id)!]] : []))),
  };

  readonly #commands: AssistantCommands = {
    run: async ({ thingId, commands }) => {
      const receipts: CommandReceipt[] = [];
      for (const command of commands) {
        const target = this.things.get(thingId)!;
        const plan = planCommand({ traits: target.traits, isOnline: null }, [], command);
        const times = { requestedMs: this.nowMs, sentMs: this.nowMs, settledMs: this.nowMs };
        const base = { id: `c${this.nowMs}`, thingId, command, alertId: null, ...times };
        if (isCommandError(plan)) {
          receipts.push({ ...base, state: "rejected", error: { ...plan, text: commandErrorText(plan) } });
          break;
        }
        if (this.ends === "confirmed") this.show(target, thingAfter(target, [plan]).traits);
        receipts.push({ ...base, state: this.ends, error: null });
      }
      return receipts;
    },
  };

  /** Gone things are told as removed later. */
  readonly #leaving = async () =>
    [...this.things.values()].filter(({ goneMs }) => goneMs !== null).map(({ thingId }) => thingId);

  readonly alexa = alexaAnswers({
    accessTokens: {
      verify: async (token) => {
        if (token !== "good" && token !== "read-only" && token !== "foreign") throw new InvalidToken();
        return this.caller(token !== "read-only");
      },
      clientOf: async (token) => (token === "foreign" ? "another" : "skill"),
      isExpired: async (token) => token === "expired",
    },
    outgoing: new OutgoingCalls({ timers: { after: () => () => undefined } }),
    admitRequest: () => undefined,
    outlets: { ofClient: async (_, clientId) => (clientId === "skill" ? outlet : undefined) },
    grants: {
      establish: async () => undefined,
      listed: async () => undefined,
      leaving: this.#leaving,
      replyLater: async (_outlet, _user, { commandId, thingId, reply }) => {
        const command = { trait: "onOff", command: "set", params: { on: true } } as const;
        const receipt = { id: commandId, thingId, command, alertId: null, state: "confirmed", error: null } as const;
        const times = { requestedMs: 0, sentMs: 0, settledMs: 0 };
        this.deferred.push({ receipt: { ...receipt, ...times }, reply: reply as StoredReply });
        return true;
      },
    },
    homes: this.homes,
    commands: this.#commands,
    directives: { during: (_outletId, _name, _errorIn, answering) => answering() },
    tokens: {
      exchange: async () => ({ accessToken: "a", refreshToken: "r", expiresMs: 1 }),
      renew: () => Promise.reject(new Error("nothing is renewed")),
    },
    runtime: { ...processRuntime(silent), nowMs: () => this.nowMs },
    newMessageId: this.newMessageId,
  });

  readonly google = googleIntents({
    homes: this.homes,
    commands: this.#commands,
    grants: {
      agentUserIdOf: () => "a_user",
      establish: async () => undefined,
      forget: async () => true,
      leaving: this.#leaving,
    },
  });

  caller(mayControl: boolean): ScopedPrincipal & UserPrincipal {
    return { kind: "user", userId, tenantId, scopes: mayControl ? everything : readOnly };
  }

  /** What waits for its outcome has one now. */
  takeDeferred(): readonly { readonly receipt: CommandReceipt; readonly reply: StoredReply }[] {
    return this.deferred.splice(0).filter(({ receipt }) => hasOutcome(receipt));
  }
}

const userId = 7 as UserId;
const tenantId = 1 as TenantId;
const contacts = { ...settings, alarms: "contact" as const };
const outlet = { id: "outlet-1", clientId: "skill", tenantId, kind: "alexa", settings: contacts } as unknown as Outlet;
export const googleOutlet = { id: "outlet-2", clientId: "google", tenantId };
