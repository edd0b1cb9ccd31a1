import type { CommandReceipt } from "../../../sdk/src/index.ts";
import type { Answer } from "../administration/admin-command.ts";
import { clockTime } from "../devices/times.ts";
import { shownAs } from "../terminal/output.ts";
import type { Style } from "../terminal/style.ts";
import { commandInWords, shownState } from "../things/receipt-view.ts";

/** One event as a line for people. */
export function eventInWords(type: string, data: Answer, style: Style): string {
  const head = `${style.dim(clockTime(data.updateTime ?? data.time ?? Date.now()))}  ${style.cyan(type.padEnd(9))}`;
  const where = data.deviceId === undefined ? "-" : `device ${data.deviceId}`;
  switch (type) {
    case "attribute":
      return `${head}  ${where}  ${shownAs(data.name)} = ${style.bold(shownAs(data.value ?? "(blank)"))}  ${style.dim(causeInWords(data.cause))}`;
    case "link":
      return `${head}  ${where}  ${data.ecosystem} is ${style.bold(data.state)}: ${shownAs(data.reason)}`;
    case "command":
      return `${head}  ${where}  ${data.name} = ${data.value}: ${style.bold(data.state)}${data.text ? `, ${shownAs(data.text)}` : ""}`;
    case "thing":
      return `${head}  ${thingInWords(data)}  ${style.dim(causeInWords(data.cause))}`;
    case "thingCommand":
      return `${head}  ${data.thingId}  ${data.commandId} ${commandInWords(data as CommandReceipt)}: ${shownState(data as CommandReceipt, style)}${data.error ? `, ${shownAs(data.error.text)}` : ""}`;
    case "linkSession":
      return `${head}  ${data.linkSessionId}  ${data.ecosystem} ${style.bold(data.status)}${sessionEndInWords(data)}`;
    default: {
      const { deviceId: _, time: __, ...facts } = data;
      const words = Object.entries(facts).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
      return `${head}  ${where}  ${shownAs(words.join(" "))}`;
    }
  }
}

/** The device of a linked account, or why there is none. */
function sessionEndInWords({ deviceId, problem }: Answer): string {
  if (problem) return `: ${shownAs(problem.description)}`;
  return deviceId === null ? "" : `: device ${deviceId}`;
}

/** A thing's id, what happened to it, and the changed fields. */
function thingInWords({ thingId, what, fields = {} }: Answer): string {
  return shownAs([thingId, ...(what === "state" ? [] : [what]), fieldsInWords(fields)].join("  ")).trimEnd();
}

/** The changed fields of a thing with their values. */
export function fieldsInWords(fields: Answer): string {
  const changes = Object.entries<Answer>(fields).map(([name, { value }]) => `${name} = ${value ?? "(unknown)"}`);
  return changes.join(", ");
}

/** What caused a change. */
export function causeInWords(cause: Answer): string {
  if (cause?.by === "client") return cause.user === undefined ? "a client" : `user ${cause.user}`;
  if (cause?.by === "alert") return `alert ${cause.alert ?? cause.trigger ?? ""}`.trim();
  return cause?.by === undefined ? "-" : `the ${cause.by}`;
}
