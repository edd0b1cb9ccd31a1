import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { changesAt } from "./operators.ts";
import { functionAround, parseSource, type Visit, walk } from "./syntax-tree.ts";
import { textChangesAt } from "./text-operators.ts";

/** One deliberate mistake in one source file. */
export interface Mutant {
  readonly id: number;
  /** Relative to the repository. */
  readonly file: string;
  readonly line: number;
  /** The named function around it, or "module". */
  readonly function: string;
  readonly operator: string;
  readonly before: string;
  readonly after: string;
  /** The expression or statement that the switched source exchanges as a whole. */
  readonly site: Site;
  /** The text of that site with the mistake in it. */
  readonly siteText: string;
}

export interface Site {
  readonly start: number;
  readonly end: number;
  readonly kind: "expression" | "statement";
}

/** The mutants of these files (paths or folders), numbered in the order of files and places. */
export function mutantsOf(root: string, paths: readonly string[]): Mutant[] {
  const files = paths.flatMap((path) => (path.endsWith(".ts") ? [path] : globSync(`${path}/**/*.ts`, { cwd: root })));
  const mutants: Mutant[] = [];
  for (const file of [...new Set(files)].sort()) {
    const text = readFileSync(join(root, file), "utf8");
    for (const visit of walk(parseSource(text))) {
      if (!isForPostgres(visit, text)) mutants.push(...mutantsAt(file, visit, text, mutants.length));
    }
  }
  return mutants;
}

/** Whether only PostgreSQL reaches this place. The tests against mutants run on SQLite. */
function isForPostgres(visit: Visit, text: string): boolean {
  for (let at: Visit | undefined = visit; at?.parent; at = at.parent) {
    // Nothing hears the hints of SQLite. The contract of the store counts those of PostgreSQL.
    if (at.node.type === "ExpressionStatement" && text.startsWith("sql.hint(", at.node.start)) return true;
    const { test } = at.parent.node;
    const isBranch = /^(ConditionalExpression|IfStatement)$/.test(at.parent.node.type);
    if (!isBranch || at.key === "test") continue;
    const condition = text.slice(test.start, test.end);
    if (at.key === "consequent" && /^(isPostgres|sql\.dialect === "postgres")$/.test(condition)) return true;
    if (at.key === "alternate" && condition === 'sql.dialect === "sqlite"') return true;
  }
  return false;
}

function mutantsAt(file: string, visit: Visit, text: string, firstId: number): Mutant[] {
  return [...changesAt(visit, text), ...textChangesAt(visit, text)].map((change, index) => {
    const site = siteOf(visit, change.start, change.end);
    // A small change inside a text is shown with the words around it.
    const shown = change.operator === "sql" ? lineAround(text, change.start, change.end) : change;
    const [head, tail] = [text.slice(shown.start, change.start), text.slice(change.end, shown.end)];
    return {
      id: firstId + index,
      file,
      line: text.slice(0, change.start).split("\n").length,
      function: functionAround(visit),
      operator: change.operator,
      before: oneLine(text.slice(shown.start, shown.end)),
      after: oneLine(head + change.replacement + tail),
      site,
      siteText: text.slice(site.start, change.start) + change.replacement + text.slice(change.end, site.end),
    };
  });
}

/**
 * What is exchanged as a whole: the node, or for a part of `a?.b.c()` all of that chain, because an inner part in
 * parentheses would no longer skip the rest.
 */
function siteOf(visit: Visit, start: number, end: number): Site {
  let at = visit;
  const { node } = at;
  const isStatement = /Statement$/.test(node.type) && node.start === start && node.end === end;
  if (isStatement) return { start, end, kind: "statement" };
  if (start >= node.start && end <= node.end && node.type === "ReturnStatement")
    return { start, end, kind: "expression" };
  if (node.type === "ArrowFunctionExpression") return { start, end, kind: "expression" };
  while (at.parent && isPartOfChain(at)) at = at.parent;
  return { start: at.node.start, end: at.node.end, kind: "expression" };
}

function isPartOfChain({ node, key, parent }: Visit): boolean {
  const isHead =
    key === "object" || key === "callee" || (key === "expression" && parent?.node.type === "TSNonNullExpression");
  return isHead && /^(Optional|TSNonNull)/.test(node.type);
}

function lineAround(text: string, start: number, end: number): { readonly start: number; readonly end: number } {
  const next = text.indexOf("\n", end);
  return { start: text.lastIndexOf("\n", start) + 1, end: next < 0 ? text.length : next };
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
