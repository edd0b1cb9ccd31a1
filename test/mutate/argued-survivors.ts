import type { Argued } from "./argued.ts";

/** Mutants that no test can kill, or need not: see CONTRIBUTING.md, *Mutation tests*. */
export const arguedSurvivors: readonly Argued[] = [];
