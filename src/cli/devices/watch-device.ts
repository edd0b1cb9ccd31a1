import type { Call } from "../command.ts";
import type { Api } from "../service/api.ts";
import { follow } from "../service/follow.ts";
import { isLively } from "../terminal.ts";
import { alarming, deviceView, shownValue } from "./device-view.ts";
import { friendlyNames, inWords, type ShownAttribute, type ShownDevice } from "./friendly-names.ts";
import { clockTime } from "./times.ts";

/** How long a change stands out. */
const freshMs = 5_000;
/** No event tells that all is as it was: how fresh the whole is has to be asked for. */
const refreshMs = 5_000;

/**
 * Shows a device and then what changes: in the table itself where that fits the terminal, else line by line. A program
 * gets one JSON object a line, the events as they are.
 */
export async function watchDevice(
  call: Call,
  api: Api,
  read: () => Promise<{ readonly device: ShownDevice; readonly names: readonly string[] }>,
  attributes: readonly string[],
): Promise<void> {
  const { print, terminal } = call;
  let { device, names } = await read();
  let isShown = false;
  const isMeant = (name: string) => attributes.length === 0 || attributes.includes(name);
  const changedAt = new Map<string, number>();
  let drawnLines = 0;
  const view = () => {
    const nowMs = Date.now();
    const changed = new Set([...changedAt].filter(([, atMs]) => nowMs - atMs < freshMs).map(([name]) => name));
    return deviceView(device, names, { style: print.style, width: print.width, nowMs, changed });
  };
  const fits = (text: string) =>
    isLively(terminal, terminal.out) && text.split("\n").length < (terminal.out.rows || 24) - 3;
  const draw = () => {
    const text = `${view()}\n\n${print.style.dim("Ctrl-C ends.")}`;
    terminal.out.write(`${drawnLines > 0 ? `\u001b[${drawnLines}A\u001b[J` : ""}${text}\n`);
    drawnLines = text.split("\n").length;
  };
  const isTable = !print.isJson && fits(view());
  // Times grow and marks fade although nothing happens.
  const refreshing = isTable ? setInterval(() => void refreshHead().catch(() => undefined), refreshMs) : undefined;
  const refreshHead = async () => {
    const query = { attribute: "o.totalStructures" };
    const { attributes: _, ...head }: ShownDevice = await api.call("GET", `/v3/devices/${device.deviceId}`, { query });
    device = { ...device, ...head };
  };
  const redrawing = isTable ? setInterval(() => isShown && draw(), 1_000) : undefined;
  try {
    for await (const { type, data } of follow(api, { deviceId: device.deviceId }, print)) {
      if (type === "connected" || type === "resync") {
        // Taken up again, the stream tells what was missed by itself.
        if (isShown && type === "connected") continue;
        ({ device, names } = await read());
        if (isTable) draw();
        else if (!isShown) print.line({ type: "device", ...device }, `${view()}\n\nChanges follow. Ctrl-C ends.`);
        isShown = true;
        continue;
      }
      if (type !== "attribute") {
        if (type === "device" && data.what === "removed") return print.words("The device was removed.");
        if (type === "link") ({ device } = await read());
        continue;
      }
      if (!isMeant(data.name)) continue;
      const before = device.attributes[data.name];
      if (before && before.updateTime >= data.updateTime) continue;
      const next: ShownAttribute = { value: data.value, updateTime: data.updateTime };
      device = { ...device, attributes: withChange(device.attributes, data.name, next) };
      names = data.value === null ? names.filter((name) => name !== data.name) : ordered(names, data.name);
      changedAt.set(data.name, Date.now());
      if (isTable) draw();
      else print.line({ type, ...data }, changeInWords(call, device, data.name, before, next));
    }
  } finally {
    clearInterval(redrawing);
    clearInterval(refreshing);
  }
}

/** `12:03:04  Maple Street › Kitchen › smoke_alarm_state  ok → emergency`. */
function changeInWords(
  { print: { style } }: Call,
  device: ShownDevice,
  name: string,
  before: ShownAttribute | undefined,
  after: ShownAttribute,
): string {
  const value = alarming(after) ? style.red(shownValue(after)) : style.yellow(shownValue(after));
  const from = before ? `${shownValue(before)} → ` : "";
  return `${style.dim(clockTime(after.updateTime))}  ${inWords(friendlyNames(device)(name))}  ${from}${value}`;
}

function withChange(attributes: ShownDevice["attributes"], name: string, next: ShownAttribute) {
  const { [name]: _, ...others } = attributes;
  return next.value === null ? others : { ...attributes, [name]: next };
}

/** A name that is new stands beside those of the same place. */
function ordered(names: readonly string[], name: string): readonly string[] {
  if (names.includes(name)) return names;
  const placeOf = (one: string) => one.slice(0, one.lastIndexOf("]") + 1);
  const behind = names.findLastIndex((one) => placeOf(one) === placeOf(name));
  return behind < 0 ? [...names, name] : names.toSpliced(behind + 1, 0, name);
}
