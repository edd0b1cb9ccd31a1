import { parse } from "@babel/parser";

/** A node of Babel's syntax tree, as far as the mutation operators look at it. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly loc: { readonly start: { readonly line: number } };
  // biome-ignore lint/suspicious/noExplicitAny: Babel's node types would need a cast at each field that is read.
  readonly [field: string]: any;
}

/** A node with the way that leads to it; `key` is the field of the parent that holds the node. */
export interface Visit {
  readonly node: Node;
  readonly key: string;
  readonly parent: Visit | undefined;
}

/** Expressions that carry a type: the expression inside exists when the program runs. */
const typedExpressions = new Set([
  "TSNonNullExpression",
  "TSAsExpression",
  "TSSatisfiesExpression",
  "TSInstantiationExpression",
  "TSTypeAssertion",
]);

export function parseSource(text: string): Node {
  return parse(text, { sourceType: "module", plugins: ["typescript"] }).program as unknown as Node;
}

/** Visits every node that exists when the program runs: types are left out. */
export function* walk(node: Node, key = "", parent?: Visit): Generator<Visit> {
  if (isTypeOnly(node)) return;
  const visit = { node, key, parent };
  yield visit;
  for (const [field, value] of Object.entries(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) yield* walk(child, field, visit);
    }
  }
}

/** The name of the nearest named function around a node, with its class: `Lane.#commit`, `seat`, or "module". */
export function functionAround(visit: Visit | undefined): string {
  for (let at = visit; at; at = at.parent) {
    const name = nameOf(at);
    if (name === undefined) continue;
    const around = at.parent && classAround(at.parent);
    return around === undefined ? name : `${around}.${name}`;
  }
  return "module";
}

function nameOf({ node, parent }: Visit): string | undefined {
  if (node.type === "FunctionDeclaration") return node.id?.name;
  if (/^(Class(Private)?|Object)Method$/.test(node.type)) return keyName(node.key);
  if (/^Class(Private)?Property$/.test(node.type)) return keyName(node.key);
  if (!/^(ArrowFunction|Function)Expression$/.test(node.type) || !parent) return undefined;
  if (parent.node.type === "VariableDeclarator") return parent.node.id.name;
  return parent.node.type === "ObjectProperty" ? keyName(parent.node.key) : undefined;
}

function classAround(visit: Visit): string | undefined {
  for (let at: Visit | undefined = visit; at; at = at.parent) {
    if (/^Class(Declaration|Expression)$/.test(at.node.type)) return at.node.id?.name ?? "class";
    if (/Function/.test(at.node.type)) return undefined;
  }
  return undefined;
}

function keyName(key: Node): string {
  return key.type === "PrivateName" ? `#${key.id.name}` : (key.name ?? String(key.value ?? key.type));
}

function isTypeOnly(node: Node): boolean {
  if (node.type.startsWith("TS")) return !typedExpressions.has(node.type);
  return node.type === "ImportDeclaration" || node.exportKind === "type" || node.declare === true;
}

function isNode(value: unknown): value is Node {
  return (
    typeof value === "object" && value !== null && "type" in value && typeof value.type === "string" && "start" in value
  );
}
