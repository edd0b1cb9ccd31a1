/** What an access token may be used for (RFC 6749 3.3), in the order in which answers name it. */
export const scopes = ["devices:read", "devices:control", "alerts", "webhooks", "links"] as const;
export type Scope = (typeof scopes)[number];

/** The scopes of a token or grant. Null means all, because the client requested no known scope. */
export type Scopes = readonly Scope[] | null;

/**
 * Parses the known scopes of a `scope` parameter. Unknown words are ignored; without a known scope the result is null.
 * Commas separate too, because some clients write them: as one unknown word, such a parameter would grant everything.
 */
export function parseScopes(parameter: string | undefined): Scopes {
  const words = new Set(parameter?.split(/[\s,]+/));
  const known = scopes.filter((scope) => words.has(scope));
  return known.length === 0 ? null : known;
}

export function scopeText(granted: Scopes): string | null {
  return granted?.join(" ") ?? null;
}

/** Parses stored scopes. Words of a later version are left out; the result is never null because of them. */
export function storedScopes(text: string | null): Scopes {
  if (text === null) return null;
  const words = new Set(text.split(" "));
  return scopes.filter((scope) => words.has(scope));
}

/** The needed scopes that were not granted. */
export function missingScopes(granted: Scopes, needed: readonly Scope[]): readonly Scope[] {
  return granted === null ? [] : needed.filter((scope) => !granted.includes(scope));
}

export function hasScope({ scopes: granted }: { readonly scopes: Scopes }, scope: Scope): boolean {
  return granted === null || granted.includes(scope);
}
