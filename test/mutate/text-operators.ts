import type { Change } from "./operators.ts";
import type { Node, Visit } from "./syntax-tree.ts";

/** What a worse statement looks like. Each is tried at each place where the pattern matches. */
const statementChanges: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/ < /g, " <= "],
  [/ <= /g, " < "],
  [/ > /g, " >= "],
  [/ >= /g, " > "],
  [/ AND /g, " OR "],
  [/ OR (?!REPLACE|IGNORE)/g, " AND "],
  [/ IS NOT NULL/g, " IS NULL"],
  [/ IS NULL/g, " IS NOT NULL"],
  [/ DESC\b/g, " ASC"],
  [/ \+ /g, " - "],
];

/**
 * Changes of texts: a statement in SQL gets another comparison, other texts become empty. Messages of errors and of the
 * log are left as they are: their wording is no behaviour.
 */
export function textChangesAt(visit: Visit, text: string): readonly Change[] {
  const { node } = visit;
  if (node.type !== "StringLiteral" && node.type !== "TemplateLiteral") return [];
  if (isName(visit) || isMessage(visit)) return [];
  const written = text.slice(node.start, node.end);
  if (/\b(SELECT|INSERT|UPDATE|DELETE|WHERE|ORDER BY|AND)\b/.test(written)) return sqlChanges(node, text);
  const isEmpty = written.length === 2;
  return isEmpty ? [] : [{ operator: "text", start: node.start, end: node.end, replacement: '""' }];
}

function sqlChanges(node: Node, text: string): Change[] {
  // Only the texts of a template: its expressions have changes of their own.
  const parts: readonly Node[] = node.type === "TemplateLiteral" ? node.quasis : [node];
  return parts.flatMap(({ start, end }) =>
    statementChanges.flatMap(([pattern, replacement]) =>
      [...text.slice(start, end).matchAll(pattern)].map((match) => ({
        operator: "sql",
        start: start + match.index,
        end: start + match.index + match[0].length,
        replacement,
      })),
    ),
  );
}

/** A text that names something: a module, a property, one side of a comparison whose own mutants replace it. */
function isName({ node, key, parent }: Visit): boolean {
  const around = parent?.node;
  if (!around || key === "source" || around.type === "ImportExpression") return true;
  if (key === "key" && !around.computed) return true;
  if (around.type === "TaggedTemplateExpression") return true;
  return around.type === "BinaryExpression" && /^[!=]==$/.test(around.operator) && node.type === "StringLiteral";
}

/** Inside an error that is made, or an argument of a logger. */
function isMessage({ parent }: Visit): boolean {
  for (let at = parent; at; at = at.parent) {
    const { node } = at;
    if (/^(Function|Class|Program|ArrowFunction)/.test(node.type)) return false;
    if (node.type === "ThrowStatement") return true;
    if (node.type === "NewExpression" && isErrorName(node.callee.name)) return true;
    if (node.type !== "CallExpression") continue;
    const { callee } = node;
    if (callee.type === "Super") return true;
    if (/^(debug|info|warn|error|fatal)$/.test(callee.property?.name ?? "")) return true;
  }
  return false;
}

function isErrorName(name: string | undefined): boolean {
  return name !== undefined && /^[A-Z]/.test(name) && !/^(Map|Set|URL|Date|RegExp|Intl|Uint8Array|WeakMap)/.test(name);
}
