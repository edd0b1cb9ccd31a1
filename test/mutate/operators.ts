import type { Node, Visit } from "./syntax-tree.ts";

/** One change of the source text: what `operator` makes of the text from `start` to `end`. */
export interface Change {
  readonly operator: string;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

const swappedOperators: Readonly<Record<string, readonly string[]>> = {
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "===": ["!=="],
  "!==": ["==="],
  "&&": ["||"],
  "||": ["&&"],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "%": ["*"],
  "+=": ["-="],
  "-=": ["+="],
  "??=": ["="],
  "++": ["--"],
  "--": ["++"],
};

const swappedMethods: Readonly<Record<string, string>> = {
  some: "every",
  every: "some",
  max: "min",
  min: "max",
  startsWith: "endsWith",
  endsWith: "startsWith",
  ceil: "floor",
  floor: "ceil",
};

/** Methods that answer a value of the kind that they are called on. */
const removableMethods = new Set(
  ["filter", "sort", "toSorted", "reverse", "toReversed", "slice"].concat(["trim", "toLowerCase", "toUpperCase"]),
);

/** All changes that begin at this node. `text` is the whole source. */
export function changesAt(visit: Visit, text: string): readonly Change[] {
  const changes = [...expressionChanges(visit, text), ...statementChanges(visit)];
  return changes.filter(({ start, end, replacement }) => text.slice(start, end) !== replacement);
}

function* expressionChanges({ node, key, parent }: Visit, text: string): Generator<Change> {
  const of = (part: Node) => text.slice(part.start, part.end);
  /** Parentheses are no part of a node, and another operator may bind more tightly than the one before. */
  const side = (part: Node) => (/^(Logical|Binary|Conditional|Arrow)/.test(part.type) ? `(${of(part)})` : of(part));
  const replaced = (operator: string, replacement: string): Change => ({
    operator,
    start: node.start,
    end: node.end,
    replacement,
  });
  if (key === "test" && parent && /^(If|Conditional)/.test(parent.node.type) && node.type !== "BooleanLiteral") {
    yield replaced("condition", "true");
    yield replaced("condition", "false");
  }
  if (key === "test" && parent && /^(While|For)Statement$/.test(parent.node.type)) yield replaced("condition", "false");
  switch (node.type) {
    case "BinaryExpression":
    case "LogicalExpression": {
      if (node.operator === "??") yield replaced("??", of(node.left));
      const isText = node.operator === "+" && [node.left, node.right].some(isString);
      // The condition's own mutants already replace a whole comparison by true and by false.
      const [first, second] = isText ? [] : (swappedOperators[node.operator] ?? []);
      const isCondition = key === "test";
      for (const other of [first, isCondition ? undefined : second]) {
        if (other !== undefined) yield replaced(node.operator, `${side(node.left)} ${other} ${side(node.right)}`);
      }
      break;
    }
    case "AssignmentExpression": {
      const [other] = swappedOperators[node.operator] ?? [];
      if (other !== undefined) yield replaced(node.operator, `${of(node.left)} ${other} ${of(node.right)}`);
      break;
    }
    case "UpdateExpression": {
      const [other = ""] = swappedOperators[node.operator] ?? [];
      yield replaced(node.operator, node.prefix ? other + of(node.argument) : of(node.argument) + other);
      break;
    }
    case "UnaryExpression":
      if (node.operator === "!" || node.operator === "-") yield replaced(node.operator, of(node.argument));
      break;
    case "BooleanLiteral":
      yield replaced("boolean", String(!node.value));
      break;
    case "ArrayExpression":
      if (node.elements.length > 0) yield replaced("array", "[]");
      break;
    case "OptionalMemberExpression":
    case "OptionalCallExpression":
      if (node.optional) yield withoutQuestion(node, text);
      if (node.callee) yield* methodChanges(node, text);
      break;
    case "CallExpression":
      yield* methodChanges(node, text);
      break;
    case "ReturnStatement":
      if (node.argument && !isPlain(node.argument))
        yield { ...span(node.argument), operator: "return", replacement: "undefined" };
      break;
    case "ArrowFunctionExpression":
      if (node.body.type !== "BlockStatement" && !isPlain(node.body) && parent?.node.type === "VariableDeclarator") {
        yield { ...span(node.body), operator: "return", replacement: "undefined" };
      }
  }
}

function* statementChanges({ node, key, parent }: Visit): Generator<Change> {
  const removed = (operator: string): Change => ({ ...span(node), operator, replacement: "" });
  switch (node.type) {
    case "ExpressionStatement": {
      const isSuper = node.expression.type === "CallExpression" && node.expression.callee.type === "Super";
      if (!isSuper) yield removed("statement");
      break;
    }
    case "ThrowStatement":
    case "ContinueStatement":
      yield removed("statement");
      break;
    case "BlockStatement": {
      const isBody = key === "body" && parent && /Function|Method|^For|^While/.test(parent.node.type);
      if (isBody && node.body.length > 1) yield { ...span(node), operator: "block", replacement: "{}" };
    }
  }
}

function* methodChanges(node: Node, text: string): Generator<Change> {
  const { callee } = node;
  const name = callee.property?.name;
  if (callee.computed || name === undefined) return;
  const object = text.slice(callee.object.start, callee.object.end);
  if (removableMethods.has(name)) yield { ...span(node), operator: name, replacement: object };
  const other = Object.hasOwn(swappedMethods, name) ? swappedMethods[name] : undefined;
  if (other !== undefined) yield { ...span(callee.property), operator: name, replacement: other };
}

/** `a?.b` becomes `a.b`, `a?.(b)` becomes `a(b)`, `a?.[b]` becomes `a[b]`. */
function withoutQuestion(node: Node, text: string): Change {
  const head = node.object ?? node.callee;
  const rest = text.slice(head.end, node.end);
  const isName = node.type === "OptionalMemberExpression" && !node.computed;
  const replacement = text.slice(node.start, head.end) + rest.replace("?.", isName ? "." : "");
  return { ...span(node), operator: "?.", replacement };
}

function span({ start, end }: Node): { readonly start: number; readonly end: number } {
  return { start, end };
}

function isString(node: Node): boolean {
  if (node.type === "BinaryExpression" && node.operator === "+") return isString(node.left) || isString(node.right);
  return node.type === "StringLiteral" || node.type === "TemplateLiteral";
}

/** Values whose own mutants say the same as a removed return value, or that are none. */
function isPlain(node: Node): boolean {
  return node.type === "BooleanLiteral" || (node.type === "Identifier" && node.name === "undefined");
}
