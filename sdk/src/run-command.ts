import { BreezewayError } from "./errors.ts";
import { isTemporary } from "./refusals.ts";
import type { CommandReceipt } from "./thing-commands.ts";
import type { CallOptions, WriteOptions } from "./transport.ts";
import type { V3 } from "./v3.ts";
import { pause } from "./waiting.ts";

/** Options of `command`. */
export interface CommandOptions extends WriteOptions {
  /**
   * How long to wait for the outcome. 60 seconds by default; the service has one within 35. With 0 the receipt is
   * returned as soon as the service has stored the command.
   */
  readonly waitMs?: number | undefined;
}

/** The parameters and options of a command. Parameters can be left out if the command needs none. */
export type CommandArguments<Params> =
  Record<never, never> extends Params
    ? [params?: Params, options?: CommandOptions]
    : [params: Params, options?: CommandOptions];

/** @internal */
export interface NewCommand {
  readonly trait: string;
  readonly command: string;
  readonly params: object;
}

/** How long to wait for an accepted command to show. The service decides about it only after a minute. */
const confirmMs = 5_000;
const firstPauseMs = 100;
const maxPauseMs = 1_000;

/**
 * Sends a command and waits for its outcome.
 * @internal
 */
export async function runCommand(
  v3: V3,
  thingId: string,
  command: NewCommand,
  { waitMs = 60_000, signal, idempotencyKey }: CommandOptions,
): Promise<CommandReceipt> {
  const path = `/things/${encodeURIComponent(thingId)}/commands`;
  let receipt = await v3.call<CommandReceipt>("POST", path, { json: command, signal, idempotencyKey });
  const startedMs = performance.now();
  const elapsed = () => performance.now() - startedMs;
  let acceptedMs: number | undefined;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, maxPauseMs)) {
    const { state } = receipt;
    if (state === "accepted") acceptedMs ??= elapsed();
    const isOpen = state === "queued" || state === "sending" || state === "accepted";
    const isShownTooLate = acceptedMs !== undefined && elapsed() - acceptedMs >= confirmMs;
    if (!isOpen || isShownTooLate || elapsed() >= waitMs) return receipt;
    await pause(Math.min(pauseMs, waitMs - elapsed()), signal);
    // The command is stored and may have been carried out. An error would suggest otherwise, so a receipt that can't be
    // read leaves the outcome open.
    try {
      receipt = await readReceipt(v3, thingId, receipt.commandId, { signal });
    } catch (error) {
      if (!(error instanceof BreezewayError)) throw error;
      if (!isTemporary(error)) return receipt;
    }
  }
}

/** @internal */
export async function readReceipts(
  v3: V3,
  thingId: string,
  { signal }: CallOptions,
): Promise<readonly CommandReceipt[]> {
  type Body = { readonly commands: readonly CommandReceipt[] };
  return (await v3.call<Body>("GET", `/things/${encodeURIComponent(thingId)}/commands`, { signal })).commands;
}

/** @internal */
export function readReceipt(
  v3: V3,
  thingId: string,
  commandId: string,
  { signal }: CallOptions,
): Promise<CommandReceipt> {
  const path = `/things/${encodeURIComponent(thingId)}/commands/${encodeURIComponent(commandId)}`;
  return v3.call("GET", path, { signal });
}
