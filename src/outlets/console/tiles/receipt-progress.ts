import { type Html, html } from "../../../web/html.ts";
import { clock } from "../times.ts";
import { iconOf } from "./icons.ts";
import type { ShownReceipt, ShownThing } from "./shown-thing.ts";
import { commandWords, unitOf } from "./thermostat-words.ts";

const stages = ["Sent", "Accepted", "Confirmed"];
/** How many stages a command in this state has reached. The other states are ends without the requested effect. */
const reached: Readonly<Record<string, number>> = { queued: 0, sending: 1, accepted: 2, confirmed: 3 };
const withoutText: Readonly<Record<string, string>> = {
  contradicted: "The ecosystem accepted the command, and the device still showed another state.",
  expired: "Whether the command was carried out is unknown.",
};

/**
 * The progress of the last command to a thing, or the text that a client reads in its receipt. While the current state
 * is unknown, only failures are shown: progress would be out of date.
 */
export function receiptProgress(
  thing: ShownThing,
  receipt: ShownReceipt | undefined,
  isKnown: boolean,
): Html | undefined {
  if (receipt === undefined) return undefined;
  const { state, error, requestedTime } = receipt;
  const what = html`<p class="kind">${commandWords(receipt, unitOf(thing))}, ${clock(requestedTime)}</p>`;
  const count = reached[state];
  if (count === undefined) {
    const text = error?.text ?? withoutText[state] ?? `The command is ${state}.`;
    return html`${what}<p class="error">${iconOf("warning")}<span>${text}</span></p>`;
  }
  if (!isKnown) return undefined;
  return html`${what}<ol class="stages">${stages.map((stage, place) => html`<li class="${place < count ? "is-reached" : ""}">${stage}</li>`)}</ol>`;
}
