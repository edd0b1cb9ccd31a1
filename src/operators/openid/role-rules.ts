/** Gives operators a role by a claim of their ID token, such as a group that they are in. */
export interface RoleRule {
  readonly claim: string;
  /** The value of the claim, or one of its values when it is a list. */
  readonly value: string;
  readonly role: string;
  /** Names or ids of tenants. */
  readonly tenants: readonly string[];
}

/** The first rule that the claims match. Without one, the person is no operator. */
export function ruleFor(rules: readonly RoleRule[], claims: Readonly<Record<string, unknown>>): RoleRule | undefined {
  return rules.find(({ claim, value }) => {
    const claimed = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
    return Array.isArray(claimed) ? claimed.some((one) => isValue(one, value)) : isValue(claimed, value);
  });
}

function isValue(claimed: unknown, value: string): boolean {
  return typeof claimed === "boolean" ? String(claimed) === value : claimed === value;
}
