import { localClock } from "./local-times.ts";

/** Why the page is not live; undefined while it is. */
export interface Problem {
  readonly sentence: string;
  readonly link?: { readonly words: string; readonly to: string };
}

const root = document.documentElement;
let serviceAheadMs = 0;

/** Ages are counted on the service's clock: the browser's may be wrong. */
export function setServiceTime(timeMs: number): void {
  serviceAheadMs = timeMs - Date.now();
}

export function serviceNow(): number {
  return Date.now() + serviceAheadMs;
}

/** Shows the state of the page: live, or as of when and why. While it is not live, nothing can be pressed. */
export function showFreshness(problem: Problem | undefined, asOfMs: number): void {
  const isLive = problem === undefined;
  root.dataset.fresh = isLive ? "live" : "as-of";
  const state = document.getElementById("freshness");
  const why = document.getElementById("freshness-why");
  if (state === null || why === null) return;
  const seconds = Math.max(0, Math.round((serviceNow() - asOfMs) / 1_000));
  write(state, isLive ? "This page is live" : `As of ${localClock(new Date(asOfMs))}, ${age(seconds)} ago`);
  state.title = isLive ? "" : new Date(asOfMs).toISOString();
  if (problem === undefined) {
    write(why, "");
  } else if (why.dataset.sentence !== problem.sentence || why.textContent === "") {
    why.textContent = `${problem.sentence} `;
    if (problem.link) {
      const link = document.createElement("a");
      link.href = problem.link.to;
      link.textContent = problem.link.words;
      why.append(link);
    }
  }
  why.dataset.sentence = problem?.sentence ?? "";
  setButtons(!isLive);
}

/** Leaves buttons alone that the service rendered as disabled. */
export function setButtons(areDisabled: boolean): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>("main button:not([data-pauses], [data-copies])")) {
    if (areDisabled && !button.disabled) {
      button.disabled = true;
      button.dataset.stopped = "";
      button.setAttribute("aria-describedby", "freshness-why");
      button.title = document.getElementById("freshness-why")?.textContent ?? "";
    } else if (!areDisabled && button.dataset.stopped !== undefined) {
      button.disabled = false;
      delete button.dataset.stopped;
      button.removeAttribute("aria-describedby");
      button.removeAttribute("title");
    }
  }
}

/** Writes how long ago each time was, and how much of a countdown is left. */
export function showAges(): void {
  for (const time of document.querySelectorAll<HTMLTimeElement>("time[data-ago]")) {
    const seconds = Math.max(0, Math.round((serviceNow() - Date.parse(time.dateTime)) / 1_000));
    write(time, `${age(seconds)} ago`);
  }
  for (const time of document.querySelectorAll<HTMLTimeElement>("time[data-until]")) {
    const left = Math.max(0, Math.round((Date.parse(time.dateTime) - serviceNow()) / 1_000));
    write(time, `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`);
  }
}

export function age(seconds: number): string {
  if (seconds < 100) return `${seconds} s`;
  if (seconds < 6_000) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

function write(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
