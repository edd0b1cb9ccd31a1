import { setTimeout as pause } from "node:timers/promises";
import type { Call } from "../command.ts";
import type { Api } from "../remote/api.ts";
import { follow, reportLive, reportLost, retryPauseMs } from "../remote/follow.ts";
import { isOutage } from "../remote/service-errors.ts";
import { canRedraw } from "../terminal/terminal.ts";
import { cutTo } from "../terminal/text-width.ts";
import { ConnectionState, freshnessInWords, freshnessLine } from "./connection-state.ts";
import { deviceView, isAlarming, shownValue } from "./device-view.ts";
import { friendlyNames, inWords, type ShownAttribute, type ShownDevice } from "./friendly-names.ts";
import { clockTime } from "./times.ts";

/** How long a changed value is highlighted. */
const freshMs = 5_000;
/** Freshness is polled: no event reports that values are confirmed unchanged, or that the node of a link has died. */
const refreshMs = 2_000;
const answerWithinMs = 2_500;

interface Reading {
  readonly device: ShownDevice;
  readonly names: readonly string[];
}

/**
 * Shows a device and then its changes: in the table itself if it fits the terminal, otherwise line by line. A program gets
 * one JSON object a line. Values that are no longer current are marked with the time at which they were known.
 */
export async function watchDevice(
  call: Call,
  api: Api,
  read: () => Promise<Reading>,
  attributes: readonly string[],
): Promise<void> {
  const { print } = call;
  let { device, names } = await read();
  let isShown = false;
  const isSelected = (name: string) => attributes.length === 0 || attributes.includes(name);
  const changedAt = new Map<string, number>();
  const connection = new ConnectionState();
  const view = () => {
    const nowMs = Date.now();
    const changed = new Set([...changedAt].filter(([, atMs]) => nowMs - atMs < freshMs).map(([name]) => name));
    const { style, width } = print;
    return deviceView(device, names, { style, width, nowMs, changed, asOfMs: connection.lost?.sinceMs });
  };
  const table = tableOn(call, view, connection);
  const redrawing = table && setInterval(() => isShown && table.draw(), 1_000);
  // The table shows the connection's state itself.
  const words = table ? { ...print, words: () => undefined } : print;
  const refresh = async () => {
    // Only the head is needed; one attribute keeps the answer small.
    const question = { attributes: ["o.totalStructures"] };
    const { attributes: _, ...head } = await api.getDevice(device.deviceId, question, answerWithinMs);
    const isFreshnessChanged = head.stale !== device.stale || head.presenceInfo !== device.presenceInfo;
    device = { ...device, ...head };
    if (isFreshnessChanged && isShown && !table) print.line(freshnessLine(device), freshnessInWords(device));
  };
  const noteAnswer = (error: unknown) => {
    const before = connection.lost;
    connection.answered(error);
    const { lost } = connection;
    if (!before && lost) reportLost(words, lost.sinceMs, lost.reason);
    if (before && !lost) reportLive(words, api.baseUrl);
  };
  let isReading = false;
  const refreshing = repeatedly(refreshMs, refresh, (error) => {
    // An answer does not make the shown values current until the whole device was read again. A failure counts at once:
    // the read that is in progress may take 15 seconds to fail.
    if (error !== undefined || !isReading) noteAnswer(error);
  });
  /** Reads the device, with retries during an outage. Events wait meanwhile, so the read never overwrites a newer value. */
  const readAgain = async () => {
    isReading = true;
    for (let failures = 0; isReading; failures++) {
      try {
        ({ device, names } = await read());
        isReading = false;
      } catch (error) {
        if (!isOutage(error)) throw error;
        noteAnswer(error);
        await pause(retryPauseMs(failures));
      }
    }
    noteAnswer(undefined);
    // It was read while the stream is open, so it is current.
    connection.streamLive();
  };
  try {
    for await (const { type, data } of follow(api, { deviceIds: [device.deviceId] }, words)) {
      if (type === "lost") {
        connection.streamLost(data.since, data.reason);
        table?.draw();
        continue;
      }
      if (type === "live") {
        connection.streamLive();
        table?.draw();
        continue;
      }
      if (type === "connected" || type === "resync") {
        // A resumed stream delivers the missed events.
        if (isShown && type === "connected") continue;
        await readAgain();
        // After a resync all of it is shown again: the events of what changed are missing.
        if (table) table.draw();
        else print.line({ type: "device", ...device }, isShown ? view() : `${view()}\n\nChanges follow. Ctrl-C ends.`);
        isShown = true;
        continue;
      }
      if (type !== "attribute") {
        if (type === "device" && data.what === "removed") return print.words("The device was removed.");
        if (type === "link") noteAnswer(await errorOf(refresh()));
        continue;
      }
      if (!isSelected(data.name)) continue;
      const before = device.attributes[data.name];
      if (before && before.updateTime >= data.updateTime) continue;
      const next: ShownAttribute = { value: data.value, updateTime: data.updateTime };
      device = { ...device, attributes: withChange(device.attributes, data.name, next) };
      names = data.value === null ? names.filter((name) => name !== data.name) : ordered(names, data.name);
      changedAt.set(data.name, Date.now());
      if (table) table.draw();
      else print.line({ type, ...data }, changeInWords(call, device, data.name, before, next));
    }
  } catch (error) {
    // The command ends, and its last table stays on the screen.
    connection.streamLost(Date.now(), error instanceof Error ? error.message : String(error));
    if (isShown) table?.draw();
    throw error;
  } finally {
    clearInterval(redrawing);
    refreshing.stop();
  }
}

/** A table that is redrawn in place; undefined if it does not fit, or without a terminal. */
function tableOn({ print, terminal }: Call, view: () => string, connection: ConnectionState) {
  const { out } = terminal;
  const isFitting = canRedraw(terminal, out) && view().split("\n").length < (out.rows || 24) - 3;
  if (print.isJson || !isFitting) return undefined;
  let drawnLines = 0;
  return {
    draw() {
      const { lost } = connection;
      const foot = lost
        ? print.style.yellow(cutTo(`Not live since ${clockTime(lost.sinceMs)}: ${lost.reason}`, print.width))
        : print.style.dim("Ctrl-C ends.");
      const text = `${view()}\n\n${foot}`;
      out.write(`${drawnLines > 0 ? `\u001b[${drawnLines}A\u001b[J` : ""}${text}\n`);
      drawnLines = text.split("\n").length;
    },
  };
}

/** Repeats the work, with a pause after each run, and reports the error of each run, if any. */
function repeatedly(everyMs: number, work: () => Promise<void>, onRunEnded: (error: unknown) => void) {
  let isStopped = false;
  let timer: NodeJS.Timeout;
  const next = () => {
    timer = setTimeout(async () => {
      const error = await errorOf(work());
      if (isStopped) return;
      onRunEnded(error);
      next();
    }, everyMs);
  };
  next();
  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

function errorOf(work: Promise<void>): Promise<unknown> {
  return work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
}

/** `12:03:04  Maple Street › Kitchen › smoke_alarm_state  ok → emergency`. */
function changeInWords(
  { print: { style } }: Call,
  device: ShownDevice,
  name: string,
  before: ShownAttribute | undefined,
  after: ShownAttribute,
): string {
  const value = isAlarming(after) ? style.red(shownValue(after)) : style.yellow(shownValue(after));
  const from = before ? `${shownValue(before)} → ` : "";
  return `${style.dim(clockTime(after.updateTime))}  ${inWords(friendlyNames(device)(name))}  ${from}${value}`;
}

function withChange(attributes: ShownDevice["attributes"], name: string, next: ShownAttribute) {
  const { [name]: _, ...others } = attributes;
  return next.value === null ? others : { ...attributes, [name]: next };
}

/** Inserts a new name beside the names of the same structure and device. */
function ordered(names: readonly string[], name: string): readonly string[] {
  if (names.includes(name)) return names;
  const placeOf = (one: string) => one.slice(0, one.lastIndexOf("]") + 1);
  const behind = names.findLastIndex((one) => placeOf(one) === placeOf(name));
  return behind < 0 ? [...names, name] : names.toSpliced(behind + 1, 0, name);
}
