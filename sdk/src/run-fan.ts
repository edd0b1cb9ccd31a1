import type { Attribute, Command } from "./devices.ts";
import { InvalidArgument } from "./errors.ts";
import { type FanError, parseFanError, unansweredFan } from "./fan-error.ts";
import type { HomeDevice } from "./home-names.ts";
import { isTemporary } from "./refusals.ts";
import type { CallOptions } from "./transport.ts";
import { pause } from "./waiting.ts";

/** Options of `runFan`. */
export interface RunFanOptions extends CallOptions {
  /** True (the default) starts the fan, false stops it. */
  readonly on?: boolean | undefined;
  /** How long to wait for an outcome. 60 seconds by default; the service has one within 35. */
  readonly waitMs?: number | undefined;
}

/** The outcome of a fan request. */
export type FanOutcome =
  | {
      /** The ecosystem accepted the request: the fan runs (or, with `on: false`, is off). */
      readonly done: true;
      /** Whether the ecosystem's stream has shown the new state, which takes a little longer. */
      readonly isConfirmed: boolean;
    }
  | { readonly done: false; readonly error: FanError };

/** @internal */
export interface FanAccess {
  read(names: readonly string[]): Promise<Readonly<Record<string, Attribute>>>;
  write(name: string, value: string): Promise<void>;
  /** The receipts, newest first; undefined with a secToken, which can't read them. */
  readonly commands: (() => Promise<readonly Command[]>) | undefined;
}

/** How long to wait for the stream to confirm an accepted request. */
const confirmMs = 5_000;
const firstPauseMs = 100;
const maxPauseMs = 1_000;

/**
 * Requests a fan and waits for the outcome. Compares only times of the service, because the clocks of two machines may
 * differ.
 * @internal
 */
export async function runFan(
  access: FanAccess,
  thermostat: HomeDevice | string,
  options: RunFanOptions,
): Promise<FanOutcome> {
  const active = fanAttribute(thermostat);
  const request = `${active}.requestWrite`;
  const requested = String(options.on ?? true);
  const before = latest(await access.read([active, request]));
  await access.write(request, requested);

  const check = new FanCheck(requested, before);
  const verdictNow = async (): Promise<Verdict> => {
    try {
      const receipt = access.commands && receiptOf(await access.commands(), request, requested);
      const attributes = await access.read([active, request]);
      return check.read(attributes[active], attributes[request], receipt);
    } catch (error) {
      // The request is stored and may have been carried out. An error would suggest otherwise.
      if (isTemporary(error)) return "pending";
      throw error;
    }
  };
  const startedMs = performance.now();
  const elapsed = () => performance.now() - startedMs;
  let acceptedMs: number | undefined;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, maxPauseMs)) {
    const verdict = await verdictNow();
    if (typeof verdict === "object") return verdict;
    // This also confirms a fan that ran before: the service renews the time of fan_timer_active when a snapshot shows it.
    if (verdict === "accepted") acceptedMs ??= elapsed();
    if (acceptedMs !== undefined && elapsed() - acceptedMs > confirmMs) return { done: true, isConfirmed: false };
    if (elapsed() > (options.waitMs ?? 60_000)) {
      return { done: false, error: unansweredFan("The service has not said what became of the request.", requested) };
    }
    await pause(pauseMs, options.signal);
  }
}

type Verdict = FanOutcome | "accepted" | "pending";

/** Evaluates the attributes and the receipt after the write. */
class FanCheck {
  readonly #requested: string;
  /** The latest known lower bound of the command's time: older values do not belong to it. */
  #commandTime: number;

  constructor(requested: string, before: number) {
    this.#requested = requested;
    this.#commandTime = before;
  }

  read(active: Attribute | undefined, request: Attribute | undefined, receipt: Command | undefined): Verdict {
    if (request?.value === this.#requested) this.#commandTime = Math.max(this.#commandTime, request.updateTime);
    if (receipt) this.#commandTime = Math.max(this.#commandTime, receipt.requestedTime);
    // A state from before the command does not confirm it.
    const isShown = active?.value === this.#requested && active.updateTime > this.#commandTime;
    if (isShown) return { done: true, isConfirmed: true };
    return receipt ? this.#byReceipt(receipt, request) : this.#byAttribute(request);
  }

  #byReceipt({ state, text, settledTime }: Command, request: Attribute | undefined): Verdict {
    if (state === "confirmed") return { done: true, isConfirmed: true };
    if (state === "accepted") return "accepted";
    if (state === "queued" || state === "sending") return "pending";
    // The attribute has the complete text, unless a later request has overwritten it.
    const parsed = parseFanError(String(request?.value ?? ""), this.#requested);
    const time = new Date(settledTime ?? 0).toISOString();
    if (parsed && (text === null || parsed.message === text)) return { done: false, error: parsed };
    const message = text ?? (state === "contradicted" ? "the fan went on as before" : "no answer from the ecosystem");
    return { done: false, error: { message, badValue: this.#requested, time, isUnanswered: state === "expired" } };
  }

  /** Blank means that the request was accepted; another value than the requested one belongs to an earlier request. */
  #byAttribute(request: Attribute | undefined): Verdict {
    if (!request || request.value === null) return "accepted";
    if (request.value === this.#requested) return "pending";
    const error = parseFanError(String(request.value), this.#requested);
    if (error) return { done: false, error };
    const time = new Date().toISOString();
    const message = "Another request is running";
    return { done: false, error: { message, badValue: this.#requested, time, isUnanswered: false } };
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

/** Each write has a receipt or joins the running request, so the newest receipt of this value is the right one. */
function receiptOf(commands: readonly Command[], request: string, requested: string): Command | undefined {
  const name = request.replace(".thermostat[", ".thermostats[");
  return commands.find((command) => command.name === name && command.value === requested);
}

function latest(attributes: Readonly<Record<string, Attribute>>): number {
  return Math.max(0, ...Object.values(attributes).map(({ updateTime }) => updateTime));
}
