/** The only module of Node that the SDK uses, where there is no global `crypto` (src/randomness.ts). */
declare module "node:crypto" {
  export const webcrypto: Crypto;
}
