import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Activity } from "../../simulator/simulator.ts";
import type { HouseView } from "./house-view.ts";

/** The four steps of the page. A step is done when its effect was seen in the house. */
export type StepNumber = 1 | 2 | 3 | 4;

export interface StepProgress {
  /** Returns all steps that are done. A done step stays done, also after a restart. */
  update(view: HouseView, activities: readonly Activity[]): ReadonlySet<StepNumber>;
}

export function stepProgressIn(file: string, startedMs: number): StepProgress {
  const done = new Set<StepNumber>(existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : []);
  return {
    update(view, activities) {
      const before = done.size;
      for (const step of stepsDone(view, leftAt(activities), startedMs, done)) done.add(step);
      if (done.size > before) writeFileSync(file, JSON.stringify([...done]));
      return done;
    },
  };
}

/** When a user last played a scene that empties the house. Scenes of the simulated life are not in the log. */
function leftAt(activities: readonly Activity[]): number {
  const left = activities.findLast(
    ({ kind, scene }) => kind === "scene" && (scene === "leave" || scene === "auto-away"),
  );
  return left === undefined ? Number.POSITIVE_INFINITY : Date.parse(left.time);
}

function* stepsDone(
  { changes, receipts, lamp }: HouseView,
  leftMs: number,
  startedMs: number,
  done: ReadonlySet<StepNumber>,
): Generator<StepNumber> {
  const ofLamp = changes.filter(({ deviceId }) => deviceId === lamp.deviceId);
  if (ofLamp.some(({ cause, value, updateTime }) => cause.by === "alert" && value === "off" && updateTime >= leftMs)) {
    yield 1;
  }
  const starts = receipts.filter(({ trait, command }) => trait === "fanTimer" && command === "start");
  const refused = starts.find(({ error }) => error?.code === "notHome");
  if (done.has(1) && refused) yield 2;
  const isRunning = ({ state, requestedTime }: (typeof starts)[number]) =>
    state === "confirmed" && refused !== undefined && requestedTime > refused.requestedTime;
  if (done.has(2) && starts.some(isRunning)) yield 3;
  if (ofLamp.some(({ cause, updateTime }) => isClient(cause.by) && updateTime > startedMs)) yield 4;
}

const isClient = (by: string) => by === "client" || by === "administrator";
