import { type FanError, type FanState, readFanError, readyFan, settled } from "../client/fan.ts";
import { writeAttributes } from "../client/linked-account.ts";
import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";

const ownWords = "The fan rests, says the house, until the filter is clean";

export const fanRefused: Row = {
  name: "fan-refused",
  group: "The linked account",
  title: "A refused fan says why",
  proves: "The error text keeps the ecosystem's words, commas and all, with the bad value and the time behind them.",
  isEssential: true,
  needs: [],
  after: ["mirror"],
  unless: ["times", "write"],
  async run(context) {
    const { simulator, shared } = context;
    const fan = await readyFan(context);
    context.afterRow(() => writeAttributes(context, shared.linkedId!, { [fan.requestName]: null }));
    await fan.setPresence("come-home", "home");
    const endFault = await simulator!.addFault(shared.account!.id, { fault: "reject-fan", message: ownWords });
    try {
      const { message } = errorIn(await settled(context, await fan.requestFan("true")), "true");
      ensure(message === ownWords, () => ({
        seen: `The ecosystem's words "${ownWords}" became "${message}".`,
        side: "between",
        next: "Let values through as they are: the message is what users read, and it may hold commas.",
      }));
    } finally {
      await endFault().catch(() => undefined);
    }
    await fan.setPresence("leave", "away");
    const { message } = errorIn(await settled(context, await fan.requestFan("true")), "true");
    ensure(/away/.test(message), () => ({
      seen: `With nobody home the fan was refused with "${message}", which doesn't say so.`,
      side: "service",
      next: "Compare the running version with the one you meant to deploy.",
    }));
    await fan.setPresence("come-home", "home");
    return { seen: "Refused by the ecosystem and for an empty house, both in words, with value and time." };
  },
};

function errorIn(state: FanState, badValue: string): FanError {
  ensure(state.is === "error", () => ({
    seen: "A fan that the ecosystem refuses was reported as running.",
    side: "between",
    next: "Let nothing cache or complete answers of /v3.",
  }));
  const error = readFanError(state.text);
  ensure(error !== undefined && error.badValue === badValue, () => ({
    seen: `The error text "${state.text}" is not error: <errormsg>, <badvalue>, <timestamp> with milliseconds.`,
    side: "between",
    next: "Let values through as they are: clients take the text apart at its last commas.",
  }));
  return error;
}
