import type { CommandReceipt } from "../../../sdk/src/index.ts";
import { ago } from "../devices/times.ts";
import { shownAs, table, whole } from "../terminal/output.ts";
import type { Style } from "../terminal/style.ts";

/** A command as it is typed: `thermostat setTarget celsius=20.5`. */
export function commandInWords({
  trait,
  command,
  params,
}: Pick<CommandReceipt, "trait" | "command" | "params">): string {
  const values = Object.entries(params ?? {}).map(([name, value]) => `${name}=${value}`);
  return shownAs([trait, command, ...values].join(" "));
}

/** The outcome of a command in one or two sentences, with the next step. */
export function outcomeInWords(receipt: CommandReceipt): string {
  const words = commandInWords(receipt);
  const why = receipt.error === null ? "" : ` ${shownAs(receipt.error.text)}`;
  const look = `See: breezeway thing receipts ${receipt.thingId} ${receipt.commandId}`;
  switch (receipt.state) {
    case "confirmed":
      return `Done: ${words}. The thing shows it.`;
    case "accepted":
      return `The ecosystem accepted ${words}. The thing does not show it yet. ${look}`;
    case "contradicted":
      return `The ecosystem accepted ${words}, but the thing shows another state.`;
    case "rejected":
      return `Not carried out: ${words}.${why}`;
    case "expired":
      return `${receipt.error?.code === "notSent" ? "Not carried out" : "The outcome is unknown"}: ${words}.${why}`;
    default:
      return `The service stored ${words} as command ${receipt.commandId}. Its outcome is not known yet; the service never sends a command twice. ${look}`;
  }
}

/** The receipts of a thing as a table. */
export function receiptTable(receipts: readonly CommandReceipt[], width: number, nowMs = Date.now()): string {
  return table(
    [whole("COMMAND"), whole("STATE"), "WHAT", "WHEN", "WHY"],
    receipts.map((receipt) => [
      receipt.commandId,
      receipt.state,
      commandInWords(receipt),
      ago(receipt.requestedTime, nowMs),
      receipt.error?.text ?? "-",
    ]),
    width,
  );
}

/** A state that stands out: the command was not carried out, or its outcome is unknown. */
export function shownState({ state }: Pick<CommandReceipt, "state">, style: Style): string {
  const isBad = state === "rejected" || state === "expired" || state === "contradicted";
  return isBad ? style.red(state) : style.bold(state);
}
