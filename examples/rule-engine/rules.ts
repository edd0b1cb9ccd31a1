import type { AttributeEvent } from "@breezeway/sdk";

/** When an attribute in the user's home becomes a value, an attribute of one of their devices is written. */
export interface Rule {
  readonly name: string;
  readonly when: { readonly attribute: string; readonly becomes: string };
  readonly then: { readonly device: string; readonly attribute: string; readonly value: string };
}

/** The rules that an event triggers. Writes of clients and alerts trigger none, so that two rules cannot form a loop. */
export function rulesFor(rules: readonly Rule[], { name, value, cause }: AttributeEvent): readonly Rule[] {
  if (cause.by !== "ecosystem") return [];
  return rules.filter(({ when }) => when.attribute === name && when.becomes === String(value));
}

export function readRules(text: string): readonly Rule[] {
  const rules: unknown = JSON.parse(text);
  if (!Array.isArray(rules) || !rules.every(isRule)) {
    throw new Error("Rules are a list of {name, when: {attribute, becomes}, then: {device, attribute, value}}.");
  }
  return rules;
}

function isRule(rule: unknown): rule is Rule {
  const { name, when, then } = (rule ?? {}) as Partial<Rule>;
  const texts = [name, when?.attribute, when?.becomes, then?.device, then?.attribute, then?.value];
  return texts.every((text) => typeof text === "string" && text !== "");
}
