/**
 * The smallest argon2id there is: services that tests start hash a password in well under a millisecond. What hashing
 * costs in production is tested in `test/identity/passwords.test.ts`.
 */
export const cheapPasswords = {
  passwords: { cost: { algorithm: 2, memoryCost: 8, timeCost: 1, parallelism: 1 } },
} as const;
