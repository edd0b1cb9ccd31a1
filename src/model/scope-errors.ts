import { BreezewayError } from "./errors.ts";
import { missingScopes, type Scope, type Scopes } from "./scopes.ts";

/** The access token is valid, but lacks scopes that the call needs. */
export class InsufficientScope extends BreezewayError {
  readonly code = "insufficient_scope";
  readonly needed: readonly Scope[];

  constructor(needed: readonly Scope[], missing: readonly Scope[]) {
    super(
      `This call needs the scope ${needed.join(" ")}, and the access token lacks ${missing.join(" ")}. Use a token that was granted it.`,
    );
    this.needed = needed;
  }
}

/** A refresh asked for a scope that its grant does not have (RFC 6749 6). */
export class InvalidScope extends BreezewayError {
  readonly code = "invalid_scope";

  constructor(granted: readonly Scope[], missing: readonly Scope[]) {
    super(
      `The user granted ${granted.join(" ")}, and a refresh can't add ${missing.join(" ")}. Ask for it at /oauth2/authorize.`,
    );
  }
}

/** Throws InsufficientScope unless all needed scopes were granted. */
export function requireScopes({ scopes: granted }: { readonly scopes: Scopes }, needed: readonly Scope[]): void {
  const missing = missingScopes(granted, needed);
  if (missing.length > 0) throw new InsufficientScope(needed, missing);
}
