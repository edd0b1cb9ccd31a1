/** The one thing of Node that the SDK asks for, and only where there is nothing else: see src/randomness.ts. */
declare module "node:crypto" {
  export const webcrypto: Crypto;
}
