import { plant, replace } from "./plant.ts";

/** Bounds on what a hostile home may take. */
export const hostilePlants = [
  plant(
    "things-unbounded",
    "the things of a home are stored without a limit",
    replace(() => import("../../../src/model/limits.ts"), {
      limits: (original) => ({ ...original, thingsPerLink: 1_000_000 as never }),
    }),
  ),
];
