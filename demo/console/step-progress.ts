import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { ShownReceipt } from "../../src/outlets/console/tiles/shown-thing.ts";
import type { DemoEcosystem } from "../ecosystems/ecosystem.ts";
import type { HouseView } from "./house-view.ts";

/** The four steps of the page. A step is done when its effect was seen in the house. */
export type StepNumber = 1 | 2 | 3 | 4;

export interface StepProgress {
  /** Returns all steps that are done; `lastDepartureMs`: when a person last emptied the house. A done step stays done, also after a restart. */
  update(view: HouseView, lastDepartureMs: number): ReadonlySet<StepNumber>;
}

export function stepProgressIn(file: string, startedMs: number, { walk }: Pick<DemoEcosystem, "walk">): StepProgress {
  const middleSteps = { refusal: refusedSteps, smoke: smokeSteps, fan: fanSteps }[walk];
  const done = new Set<StepNumber>(existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : []);
  return {
    update(view, lastDepartureMs) {
      const before = done.size;
      for (const step of outerSteps(view, lastDepartureMs, startedMs)) done.add(step);
      for (const step of middleSteps(view, done, startedMs)) done.add(step);
      if (done.size > before) writeFileSync(file, JSON.stringify([...done]), { mode: 0o600 });
      return done;
    },
  };
}

/** The lamp went off after the house was left; a client wrote to the lamp, not as the lamp's answer to a command. */
function* outerSteps({ changes, lamp }: HouseView, lastDepartureMs: number, startedMs: number): Generator<StepNumber> {
  const ofLamp = changes.filter(({ deviceId }) => deviceId === lamp.deviceId);
  if (
    ofLamp.some(
      ({ cause, value, updateTime }) => cause.by === "alert" && value === "off" && updateTime >= lastDepartureMs,
    )
  ) {
    yield 1;
  }
  const isWritten = ({ cause, updateTime }: (typeof ofLamp)[number]) =>
    isClient(cause.by) && updateTime > startedMs && !lamp.commandedTimes.includes(updateTime);
  if (ofLamp.some(isWritten)) yield 4;
}

/** A fan was refused while nobody was home, and ran later. */
function* refusedSteps({ home }: HouseView, done: ReadonlySet<StepNumber>): Generator<StepNumber> {
  const starts = home.commands.filter(({ trait, command }) => trait === "fanTimer" && command === "start");
  const refused = starts.find(({ error }) => error?.code === "notHome");
  if (done.has(1) && refused) yield 2;
  const isRunning = ({ state, requestedTime }: (typeof starts)[number]) =>
    state === "confirmed" && refused !== undefined && requestedTime > refused.requestedTime;
  if (done.has(2) && starts.some(isRunning)) yield 3;
}

/** There was smoke; a target was changed. */
function* smokeSteps(
  { changes, home }: HouseView,
  done: ReadonlySet<StepNumber>,
  startedMs: number,
): Generator<StepNumber> {
  const isSmoke = ({ name, value, updateTime }: HouseView["changes"][number]) =>
    name.endsWith(".smoke_alarm_state") && value === "emergency" && updateTime > startedMs;
  if (done.has(1) && changes.some(isSmoke)) yield 2;
  const isAdjusted = ({ command, state }: ShownReceipt) => command === "adjustTarget" && state === "confirmed";
  if (done.has(2) && home.commands.some(isAdjusted)) yield 3;
}

/** A fan was run and stopped, and an alert switched the lamp each time; a thermostat has got too many commands. */
function* fanSteps({ changes, lamp, home }: HouseView, done: ReadonlySet<StepNumber>): Generator<StepNumber> {
  const has = (command: string, power: string) =>
    home.commands.some(
      (receipt) =>
        receipt.trait === "fanTimer" &&
        receipt.command === command &&
        receipt.state === "confirmed" &&
        changes.some(
          ({ deviceId, cause, value, updateTime }) =>
            deviceId === lamp.deviceId &&
            cause.by === "alert" &&
            value === power &&
            updateTime >= receipt.requestedTime,
        ),
    );
  if (has("start", "on")) yield 1;
  if (done.has(1) && has("stop", "off")) yield 2;
  if (done.has(2) && home.commands.some(({ error }) => error?.code === "rateLimited")) yield 3;
}

const isClient = (by: string) => by === "client" || by === "administrator";
