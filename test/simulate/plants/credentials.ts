import type { LinkCredential } from "../../../src/federation/link-credential.ts";
import { withTables } from "./changed-parts.ts";
import { plant, replace } from "./plant.ts";

const stored = () => import("../../../src/federation/stored-renewal.ts");

export const credentialPlants = [
  plant(
    "used-before-stored",
    "a renewed credential is used though it could not be stored",
    replace(stored, {
      storeRenewed: (original) => (parts, before, markMs, renewed) => {
        original(parts, before, markMs, renewed).catch(() => undefined);
        return Promise.resolve(renewed);
      },
    }),
  ),
  plant(
    "renewal-unmarked",
    "the next owner of a link renews at once, though the owner before may still be in its call",
    replace(stored, {
      beginRenewal: (original) => (parts, current, ended) =>
        original(
          { ...parts, store: withTables(parts.store, () => ({ links: { setRenewing: async () => undefined } })) },
          current,
          ended,
        ),
    }),
  ),
  plant(
    "no-answer-is-refusal",
    "a renewal without an answer makes the link ask for consent",
    replace(() => import("../../../src/federation/link-credential.ts"), {
      LinkCredential: (original) =>
        class extends original {
          constructor(...[parts, opened]: ConstructorParameters<typeof LinkCredential>) {
            const { faulted, refused } = parts;
            const faultedOrRefused = (reason: string) => (reason === "" ? faulted(reason) : refused(reason));
            super({ ...parts, faulted: faultedOrRefused }, opened);
          }
        },
    }),
  ),
  plant(
    "refusal-forgotten",
    "a command is sent with a token that the ecosystem has refused already",
    replace(() => import("../../../src/federation/link-credential.ts"), {
      LinkCredential: (original) =>
        class extends original {
          override isRefused(_token: string): boolean {
            return false;
          }
        },
    }),
  ),
];
