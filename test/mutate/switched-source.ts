import type { Mutant, Site } from "./mutants.ts";

interface SwitchedSite extends Site {
  readonly mutants: readonly Mutant[];
}

/**
 * The source with all its mutants in it, each behind a switch: `mutantIsOn(7)` answers whether mutant 7 is on. One
 * loaded program can so run as each of its mutants in turn.
 */
export function switchedSource(text: string, mutants: readonly Mutant[]): string {
  const sites = new Map<string, { site: Site; mutants: Mutant[] }>();
  for (const mutant of mutants) {
    const { start, end, kind } = mutant.site;
    const key = `${start}-${end}-${kind}`;
    const present = sites.get(key) ?? { site: mutant.site, mutants: [] };
    present.mutants.push(mutant);
    sites.set(key, present);
  }
  const inOrder = [...sites.values()]
    .map(({ site, mutants: all }) => ({ ...site, mutants: all }))
    .sort((a, b) => a.start - b.start || b.end - a.end || (a.kind === "statement" ? -1 : 1));
  return render(text, 0, text.length, inOrder);
}

/** `sites` lie between `start` and `end`; one that holds others comes before them. */
function render(text: string, start: number, end: number, sites: readonly SwitchedSite[]): string {
  let out = "";
  let at = start;
  for (let i = 0; i < sites.length; ) {
    const site = sites[i]!;
    let next = i + 1;
    while (next < sites.length && sites[next]!.start < site.end) next++;
    const inner = render(text, site.start, site.end, sites.slice(i + 1, next));
    out += text.slice(at, site.start) + switched(site, inner);
    at = site.end;
    i = next;
  }
  return out + text.slice(at, end);
}

function switched({ kind, mutants }: SwitchedSite, original: string): string {
  if (kind === "expression") {
    const others = mutants.map(({ id, siteText }) => `mutantIsOn(${id}) ? (${siteText}) : `);
    return `(${others.join("")}(${original}))`;
  }
  const isOff = mutants.map(({ id }) => `!mutantIsOn(${id})`).join(" && ");
  // The mutants of statements leave them out. The outer braces keep a function's body a block, and an `else` with its `if`.
  return `{ if (${isOff}) { ${original} } }`;
}
