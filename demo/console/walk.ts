import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Activity } from "../../simulator/simulator.ts";
import type { HouseView } from "./reading.ts";

/** The four steps of a first visit; each is done when what it asks for has really happened. */
export type StepNumber = 1 | 2 | 3 | 4;

export interface Walk {
  /** Looks at what has happened; what was done once stays so, also over a restart. */
  look(view: HouseView, activities: readonly Activity[]): ReadonlySet<StepNumber>;
}

export function walkIn(file: string, beganMs: number): Walk {
  const done = new Set<StepNumber>(existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : []);
  return {
    look(view, activities) {
      const before = done.size;
      for (const step of stepsDone(view, leftAt(activities), beganMs, done)) done.add(step);
      if (done.size > before) writeFileSync(file, JSON.stringify([...done]));
      return done;
    },
  };
}

/** When somebody last sent everybody away; the house's own life leaves no such trace. */
function leftAt(activities: readonly Activity[]): number {
  const left = activities.findLast(
    ({ kind, scene }) => kind === "scene" && (scene === "leave" || scene === "auto-away"),
  );
  return left === undefined ? Number.POSITIVE_INFINITY : Date.parse(left.time);
}

function* stepsDone(
  { changes, commands, lamp }: HouseView,
  leftMs: number,
  beganMs: number,
  done: ReadonlySet<StepNumber>,
): Generator<StepNumber> {
  const ofLamp = changes.filter(({ deviceId }) => deviceId === lamp.deviceId);
  if (ofLamp.some(({ cause, value, updateTime }) => cause.by === "alert" && value === "off" && updateTime >= leftMs)) {
    yield 1;
  }
  const refused = commands.find(({ state, text }) => state === "rejected" && text?.includes("while structure is away"));
  if (done.has(1) && refused) yield 2;
  const isRunning = ({ state, value, requestedTime }: (typeof commands)[number]) =>
    state === "confirmed" && value === "true" && refused !== undefined && requestedTime > refused.requestedTime;
  if (done.has(2) && commands.some(isRunning)) yield 3;
  if (ofLamp.some(({ cause, updateTime }) => isClient(cause.by) && updateTime > beganMs)) yield 4;
}

const isClient = (by: string) => by === "client" || by === "administrator";
