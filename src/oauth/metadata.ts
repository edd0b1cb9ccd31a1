import { scopes } from "../model/scopes.ts";

/** The authorization server's metadata document (RFC 8414). */
export function metadata(issuer: string) {
  const secretMethods = ["client_secret_basic", "client_secret_post"];
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth2/authorize`,
    token_endpoint: `${issuer}/oauth2/access_token`,
    revocation_endpoint: `${issuer}/oauth2/revoke_token`,
    scopes_supported: scopes,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token", "client_credentials"],
    token_endpoint_auth_methods_supported: secretMethods,
    revocation_endpoint_auth_methods_supported: secretMethods,
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${issuer}/docs`,
  };
}
