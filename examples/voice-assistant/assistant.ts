import {
  type Breezeway,
  BreezewayError,
  type CommandReceipt,
  NotSignedIn,
  type Thing,
  Unreachable,
} from "@breezeway/sdk";
import { examples, type PlannedCommand, type Request, readRequest } from "./requests.ts";
import { allThings, meant, since } from "./things.ts";

/** A person does not wait longer for a voice. */
const answerWithinMs = 8_000;

/** Does what the sentence asks for, and says what came of it. */
export async function answer(breezeway: Breezeway, sentence: string): Promise<string> {
  const request = readRequest(sentence);
  if (!request) return `I understand sentences such as: ${examples.join("; ")}.`;
  try {
    const things = await allThings(breezeway);
    if (request.kind === "smoke") return smoke(things);
    return await aboutOne(breezeway, request, things);
  } catch (error) {
    if (error instanceof NotSignedIn || !(error instanceof BreezewayError)) throw error;
    const reason =
      error instanceof Unreachable ? "I can't reach Breezeway just now." : `Breezeway said: ${error.message}`;
    return `${reason} I don't know whether anything has changed.`;
  }
}

async function aboutOne(
  breezeway: Breezeway,
  request: Exclude<Request, { kind: "smoke" }>,
  things: readonly Thing[],
): Promise<string> {
  const [thing, ...others] = meant(things, request.name).filter((one) =>
    request.kind === "command" ? request.plan(one) !== undefined : one.traits.temperature !== undefined,
  );
  if (!thing) return `I know nothing called "${request.name}" that can do this.`;
  if (others.length > 0) return `Which one: ${[thing, ...others].map(({ name }) => name).join(", ")}?`;
  if (request.kind === "temperature") return temperature(thing);
  const planned = request.plan(thing)!;
  return outcome(thing, await run(breezeway, thing, planned), planned.result);
}

/** Sends the command and waits for its receipt. */
function run(
  breezeway: Breezeway,
  { thingId }: Thing,
  { trait, command, params }: PlannedCommand,
): Promise<CommandReceipt> {
  // The plan belongs to one of many commands, so the compiler can't check its parameters. The service does.
  return breezeway.command(thingId, trait, command as never, params as never, { waitMs: answerWithinMs });
}

/** The receipt in words. Only a thing that shows the result has done it. */
function outcome({ name }: Thing, { state, error }: CommandReceipt, result: string): string {
  switch (state) {
    case "confirmed":
      return result;
    case "accepted":
      return `The command was accepted, but ${name} does not show it yet.`;
    case "contradicted":
      return `${name} took the command and still shows something else.`;
    case "rejected":
      return `That was refused: ${error?.text ?? "no reason was given."}`;
    case "expired":
      return error?.code === "notSent"
        ? `${name} could not be reached in time, so nothing was sent.`
        : `${name} didn't answer. I don't know whether it was done.`;
    default:
      return `${name} has not answered yet. The command is under way.`;
  }
}

/** A value that nobody confirms is not said as the present one. */
function temperature({ name, stale, confirmedTime, traits }: Thing): string {
  const { celsius, available } = traits.temperature?.state ?? {};
  if (typeof celsius?.value !== "number") return `${name} does not tell its temperature.`;
  if (stale) return `I can't see ${name} just now. It was ${celsius.value} degrees ${since(confirmedTime)}.`;
  if (available?.value === false)
    return `${name} does not answer. It was ${celsius.value} degrees ${since(celsius.updateTime)}.`;
  return `It is ${celsius.value} degrees at ${name}.`;
}

/** "No smoke" is said only while every alarm is known to be clear. */
function smoke(things: readonly Thing[]): string {
  const alarms = things.filter(({ traits }) => traits.smoke);
  const names = (some: readonly Thing[]) => some.map(({ name }) => name ?? "an alarm").join(", ");
  const sounding = alarms.filter(({ traits }) =>
    ["alarm", "warning"].includes(String(traits.smoke?.state.state?.value)),
  );
  if (sounding.length > 0) return `Yes: ${names(sounding)}. This is no life-safety service; call for help yourself.`;
  const isClear = ({ stale, traits: { smoke: trait } }: Thing) =>
    !stale && trait?.state.available?.value !== false && trait?.state.state?.value === "clear";
  const unknown = alarms.filter((alarm) => !isClear(alarm));
  if (unknown.length > 0) return `I don't know: I can't see ${names(unknown)}.`;
  return alarms.length === 0 ? "You have no smoke alarm that I know of." : `No. ${names(alarms)} found no smoke.`;
}
