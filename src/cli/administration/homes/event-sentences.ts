import { wireName } from "../../../devices/wire-attribute.ts";
import type { ChainStep } from "../../../events/chains.ts";
import type { DeviceId } from "../../../model/ids.ts";
import { commandInWords } from "../../things/receipt-view.ts";
import type { SubjectNames } from "./home-alerts.ts";
import { isolated } from "./isolated-name.ts";

type Body = Readonly<Record<string, unknown>>;

/** Changes that a sentence names; the raw entry has all of them. */
const mostNamed = 3;

/** What an entry of the log says, in a sentence. */
export function stepSentence({ kind, body, deviceId, timeMs }: ChainStep, names: SubjectNames): string {
  const device = deviceId === null ? "the service" : deviceName(deviceId, names);
  switch (kind) {
    case "attribute":
    case "thing":
      return changesIn({ body, device, timeMs }, names);
    case "alert":
    case "thingAlert":
      return `Alert ${body.alert} fired at ${quoted(body.value)}${noteOf(body)}`;
    case "thingCommand": {
      const words = commandInWords(body.command as Parameters<typeof commandInWords>[0]);
      const error = body.error as { readonly text?: string } | null | undefined;
      return `${thingName(String(body.thingId), names)}: ${words} is ${body.state}${error?.text ? `. ${error.text}` : ""}`;
    }
    case "command":
      return `${device}: ${wireName(body.attribute as never)} = ${body.value} is ${body.state}${body.text ? `. ${body.text}` : ""}`;
    case "link":
      return `The link of ${device} to ${body.ecosystem} is ${String(body.state).replaceAll("_", " ")}${body.reason ? `: ${body.reason}` : ""}`;
    case "linkSession":
      return `A link session for ${body.ecosystem} ended: ${body.status}`;
    case "device":
      return `The device ${device} was ${body.what}`;
    default:
      return `An entry of the kind ${kind}`;
  }
}

function noteOf({ note }: Body): string {
  return typeof note === "string" ? ` (${note})` : "";
}

/** The changed things; the changed attributes when no thing changed. */
function changesIn(
  { body, device, timeMs }: { readonly body: Body; readonly device: string; readonly timeMs: number },
  names: SubjectNames,
): string {
  const things = (body.things ?? []) as readonly {
    readonly thingId: string;
    readonly what: string;
    readonly fields?: Body;
  }[];
  const ofThings = things.flatMap(({ thingId, what, fields = {} }) => {
    const name = thingName(thingId, names);
    if (what === "added" || what === "gone") return [`${name} ${what === "added" ? "was added" : "is gone"}`];
    return fieldSentences(name, fields, timeMs);
  });
  const attributes = (body.changes ?? []) as readonly (readonly [string | number, string | null])[];
  const said =
    ofThings.length > 0
      ? ofThings
      : attributes.map(([key, value]) => `${device}: ${isolated(wireName(key))} is ${quoted(value)}`);
  if (said.length === 0) return `${device} changed`;
  const more = said.length - mostNamed;
  return more > 0 ? `${said.slice(0, mostNamed).join("; ")}; ${more} more` : said.join("; ");
}

/** One sentence for each field that a person cares about; words of the ecosystem repeat what a field says. */
function fieldSentences(name: string, fields: Body, timeMs: number): readonly string[] {
  const notable = Object.entries(fields).filter(([field]) => !/\.(word|untilText|untilMs)$|^indicator\./.test(field));
  const shown = notable.length > 0 ? notable : Object.entries(fields);
  return shown.map(([field, value]) => fieldSentence(name, field, value, minutesOf(fields, timeMs)));
}

function fieldSentence(name: string, field: string, value: unknown, minutes: string): string {
  switch (field) {
    case "onOff.on":
      return value === null ? `${name}: on or off is unknown` : `${name} was switched ${value === true ? "on" : "off"}`;
    case "fanTimer.active":
      return value === true ? `${name}'s fan started${minutes}` : `${name}'s fan stopped`;
    case "presence.state":
      return value === "home"
        ? `${name}: somebody is home`
        : value === "unknown" || value === null
          ? `${name}: presence is unknown`
          : `${name}: everybody has left`;
    case "smoke.state":
      return `${name}: smoke ${value ?? "unknown"}`;
    case "carbonMonoxide.state":
      return `${name}: carbon monoxide ${value ?? "unknown"}`;
    case "smoke.fault":
    case "carbonMonoxide.fault":
      return `${name} ${value === true ? "says that it is broken" : "no longer says that it is broken"} (${field.slice(0, -6)})`;
    case "temperature.celsius":
      return `${name} measures ${value ?? "an unknown number of"} °C`;
    case "humidity.percent":
      return `${name} measures ${value ?? "an unknown number of"} % humidity`;
    case "thermostat.mode":
      return `${name} is in mode ${value ?? "unknown"}`;
    default:
      return field.endsWith(".available")
        ? `${name} ${value === true ? "answers" : value === false ? "does not answer" : "may not answer"} (${field.slice(0, -10)})`
        : `${name}: ${field} is ${quoted(value)}`;
  }
}

/** For how long a fan was started. */
function minutesOf(fields: Body, timeMs: number): string {
  const untilMs = fields["fanTimer.untilMs"];
  const minutes = typeof untilMs === "number" ? Math.round((untilMs - timeMs) / 60_000) : 0;
  return minutes > 0 ? `, ${minutes} min` : "";
}

function quoted(value: unknown): string {
  if (value === null || value === undefined) return "blank";
  const text = typeof value === "string" ? JSON.stringify(isolated(value)) : String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function thingName(thingId: string, { things }: SubjectNames): string {
  return isolated(things.get(thingId) ?? `thing ${thingId}`);
}

function deviceName(deviceId: DeviceId, { devices }: SubjectNames): string {
  return isolated(devices.get(deviceId) ?? `device ${deviceId}`);
}
