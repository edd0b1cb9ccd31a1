import { type Argued, isArguedBy, staleEntries } from "./argued.ts";
import type { Mutant } from "./mutants.ts";
import type { MutatedFolder } from "./scope.ts";
import type { Verdict } from "./verdicts.ts";

/** What a run has to say, and whether it is good: no survivor without an argument. */
export function reportOf(
  verdicts: readonly Verdict[],
  mutants: readonly Mutant[],
  argued: readonly Argued[],
  folders: readonly Pick<MutatedFolder, "source">[],
): { readonly text: string; readonly isGood: boolean } {
  const survivors = verdicts.filter(({ outcome }) => outcome !== "killed");
  const isArgued = ({ mutant }: Verdict) => argued.some((entry) => isArguedBy(mutant, entry));
  const unexpected = survivors.filter((verdict) => !isArgued(verdict));
  const stale = [...staleEntries(argued, mutants), ...needlessEntries(argued, mutants, verdicts)];
  const lines = [
    ...unexpected.map(survivorText),
    ...stale.map((entry) => `stale entry in the list of argued survivors: ${JSON.stringify(entry)}\n`),
    ...folders.map(({ source }) => scoreText(source, verdicts.filter(isIn(source)), isArgued)),
  ];
  return { text: lines.join("\n"), isGood: unexpected.length === 0 && stale.length === 0 };
}

/** Entries all of whose mutants were tried and killed. */
function needlessEntries(
  argued: readonly Argued[],
  mutants: readonly Mutant[],
  verdicts: readonly Verdict[],
): readonly Argued[] {
  const killed = new Set(verdicts.filter(({ outcome }) => outcome === "killed").map(({ mutant }) => mutant));
  return argued.filter((entry) => {
    const meant = mutants.filter((mutant) => isArguedBy(mutant, entry));
    return meant.length > 0 && meant.every((mutant) => killed.has(mutant));
  });
}

/** "src/model/x.ts:7  survived  (< in smaller)", with the text before and after. */
export function survivorText({ mutant, outcome }: Verdict): string {
  const { file, line, function: around, operator, before, after } = mutant;
  const kind = outcome === "untested" ? "no test runs this" : "survived";
  return `${file}:${line}  ${kind}  (${operator} in ${around})\n  - ${before}\n  + ${after}\n`;
}

/** "src/model  1500 of 1600 killed (93.8 %), 40 argued, 60 to be killed". */
function scoreText(folder: string, verdicts: readonly Verdict[], isArgued: (verdict: Verdict) => boolean): string {
  const killed = verdicts.filter(({ outcome }) => outcome === "killed").length;
  const argued = verdicts.filter((verdict) => verdict.outcome !== "killed" && isArgued(verdict)).length;
  const percent = ((killed / verdicts.length) * 100).toFixed(1);
  const left = verdicts.length - killed - argued;
  return `${folder}  ${killed} of ${verdicts.length} killed (${percent} %), ${argued} argued, ${left} survived`;
}

function isIn(folder: string): (verdict: Verdict) => boolean {
  return ({ mutant }) => mutant.file.startsWith(`${folder}/`);
}
