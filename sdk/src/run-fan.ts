import type { Attribute, Command } from "./devices.ts";
import { InvalidArgument } from "./errors.ts";
import { type FanError, parseFanError, unansweredFan } from "./fan-error.ts";
import type { HomeDevice } from "./home-names.ts";
import type { CallOptions } from "./transport.ts";
import { pause } from "./waiting.ts";

/** How to run a fan. */
export interface RunFanOptions extends CallOptions {
  /** False stops it. True unless said otherwise. */
  readonly on?: boolean | undefined;
  /** How long to wait for an outcome, 60 seconds unless said otherwise; the service has one within 35. */
  readonly waitMs?: number | undefined;
}

/** What became of a fan request. */
export type FanOutcome =
  | {
      /** The ecosystem took the request: the fan runs (or, with `on: false`, stands). */
      readonly done: true;
      /** Whether the ecosystem's own stream has shown it so; that takes a little longer. */
      readonly isConfirmed: boolean;
    }
  | { readonly done: false; readonly error: FanError };

/** @internal */
export interface FanDoor {
  read(names: readonly string[]): Promise<Readonly<Record<string, Attribute>>>;
  write(name: string, value: string): Promise<void>;
  /** The receipts, newest first; undefined where there are none to read. */
  readonly commands: (() => Promise<readonly Command[]>) | undefined;
}

/** How long the stream may take to show what was taken, before we say that it was taken and leave it at that. */
const showMs = 5_000;
const firstPauseMs = 100;
const longestPauseMs = 1_000;

/**
 * Asks for a fan and finds out what became of it (interface 7). All times that are compared are the service's own: the
 * clocks of two machines say nothing about each other.
 * @internal
 */
export async function runFan(
  door: FanDoor,
  thermostat: HomeDevice | string,
  options: RunFanOptions,
): Promise<FanOutcome> {
  const active = fanAttribute(thermostat);
  const request = `${active}.requestWrite`;
  const wanted = String(options.on ?? true);
  const before = latest(await door.read([active, request]));
  await door.write(request, wanted);

  const check = new FanCheck(wanted, before);
  const startedMs = performance.now();
  const elapsed = () => performance.now() - startedMs;
  let takenMs: number | undefined;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
    const receipt = door.commands && receiptOf(await door.commands(), request, wanted);
    const shown = await door.read([active, request]);
    const word = check.read(shown[active], shown[request], receipt);
    if (typeof word === "object") return word;
    // A fan that ran before is confirmed too: the service moves the time of fan_timer_active when a snapshot shows it.
    if (word === "taken") takenMs ??= elapsed();
    if (takenMs !== undefined && elapsed() - takenMs > showMs) return { done: true, isConfirmed: false };
    if (elapsed() > (options.waitMs ?? 60_000)) {
      return { done: false, error: unansweredFan("The service has not said what became of the request.", wanted) };
    }
    await pause(pauseMs, options.signal);
  }
}

/** Makes out what is shown after the write. */
class FanCheck {
  readonly #wanted: string;
  /** The time of the command, as far as it is known: nothing older is about it. */
  #commandTime: number;

  constructor(wanted: string, before: number) {
    this.#wanted = wanted;
    this.#commandTime = before;
  }

  read(
    active: Attribute | undefined,
    request: Attribute | undefined,
    receipt: Command | undefined,
  ): FanOutcome | "taken" | "pending" {
    if (request?.value === this.#wanted) this.#commandTime = Math.max(this.#commandTime, request.updateTime);
    if (receipt) this.#commandTime = Math.max(this.#commandTime, receipt.requestedTime);
    // A fan that was seen running before the command says nothing about it.
    const isSeen = active?.value === this.#wanted && active.updateTime > this.#commandTime;
    if (isSeen) return { done: true, isConfirmed: true };
    return receipt ? this.#byReceipt(receipt, request) : this.#byAttribute(request);
  }

  #byReceipt({ state, text, settledTime }: Command, request: Attribute | undefined): FanOutcome | "taken" | "pending" {
    if (state === "confirmed") return { done: true, isConfirmed: true };
    if (state === "accepted") return "taken";
    if (state === "queued" || state === "sending") return "pending";
    // The attribute has the whole text, unless a later request has written there.
    const told = parseFanError(String(request?.value ?? ""), this.#wanted);
    const time = new Date(settledTime ?? 0).toISOString();
    if (told && (text === null || told.message === text)) return { done: false, error: told };
    const message = text ?? (state === "contradicted" ? "the fan went on as before" : "no answer from the ecosystem");
    return { done: false, error: { message, badValue: this.#wanted, time, isUnanswered: state === "expired" } };
  }

  /** Empty means no error and a running fan; any other value than ours is a request that was there before. */
  #byAttribute(request: Attribute | undefined): FanOutcome | "taken" | "pending" {
    if (!request || request.value === null) return "taken";
    if (request.value === this.#wanted) return "pending";
    const error = parseFanError(String(request.value), this.#wanted);
    if (error) return { done: false, error };
    const time = new Date().toISOString();
    const message = "Another request is running";
    return { done: false, error: { message, badValue: this.#wanted, time, isUnanswered: false } };
  }
}

function fanAttribute(thermostat: HomeDevice | string): string {
  if (typeof thermostat !== "string") return thermostat.attribute("fan_timer_active");
  const [, name] =
    /^(d\.structures\[\d\]\.d\.thermostats?\[\d+\])(\.fan_timer_active(\.requestWrite)?)?$/.exec(thermostat) ?? [];
  if (name === undefined) {
    throw new InvalidArgument("The thermostat must be named as d.structures[X].d.thermostats[Y].");
  }
  return `${name}.fan_timer_active`;
}

/** Each write has a receipt or joins the one that runs: the newest for this value is ours. */
function receiptOf(commands: readonly Command[], request: string, wanted: string): Command | undefined {
  const name = request.replace(".thermostat[", ".thermostats[");
  return commands.find((command) => command.name === name && command.value === wanted);
}

function latest(attributes: Readonly<Record<string, Attribute>>): number {
  return Math.max(0, ...Object.values(attributes).map(({ updateTime }) => updateTime));
}
