import { InvalidArgument } from "./errors.ts";

/**
 * Random bytes as URL-safe text.
 * @internal
 */
export async function randomText(bytes = 32): Promise<string> {
  return base64url((await webCrypto()).getRandomValues(new Uint8Array(bytes)));
}

/**
 * SHA-256 in the encoding of PKCE (RFC 7636 4.2).
 * @internal
 */
export async function sha256Text(text: string): Promise<string> {
  const { subtle } = await webCrypto();
  // Browsers offer it only to pages that were loaded by https or from loopback.
  if (!subtle) throw new InvalidArgument("Signing in needs a page that was loaded by https.");
  return base64url(new Uint8Array(await subtle.digest("SHA-256", new TextEncoder().encode(text))));
}

/**
 * Node 18 has Web Cryptography only in a module. The comments and the `try` keep bundlers for browsers from resolving
 * that module: esbuild fails on a module that it can't find, unless the import is in a `try`.
 * @internal
 */
export async function webCrypto(): Promise<Crypto> {
  if (globalThis.crypto) return globalThis.crypto;
  try {
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:crypto")).webcrypto as Crypto;
  } catch {
    throw new InvalidArgument("This call needs a browser or a Node with the Web Cryptography API.");
  }
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}
