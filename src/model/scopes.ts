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

/** All scopes, for a request that names none. The last word is no scope; it tells this grant from one that names all. */
export const allScopesText = `${scopes.join(" ")} by-default`;

/**
 * The scopes of a request for a grant, as text; null means everything. A client of an earlier version gets everything
 * without a known scope. A later one gets all scopes if it names none, and only `devices:read` if it names no known one:
 * a mistyped name grants little.
 */
export function requestedScope(parameter: string | undefined, { hasStrictScopes }: ScopeRules): string | null {
  const known = parseScopes(parameter);
  if (known || !hasStrictScopes) return scopeText(known);
  return isBlank(parameter) ? allScopesText : "devices:read";
}

/** The scopes that a refresh asks for; null keeps what was granted. */
export function refreshScopes(parameter: string | undefined, rules: ScopeRules): Scopes {
  return isBlank(parameter) ? null : storedScopes(requestedScope(parameter, rules));
}

/** The scopes of a grant that the answer names: none if the request named none and got all. */
export function namedScopes(granted: string | null): Scopes {
  return granted === allScopesText ? null : storedScopes(granted);
}

export interface ScopeRules {
  /** False for a client of a version that gave everything to a request without a known scope. */
  readonly hasStrictScopes: boolean;
}

function isBlank(parameter: string | undefined): boolean {
  return parameter === undefined || /^[\s,]*$/.test(parameter);
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
