import { AsyncLocalStorage } from "node:async_hooks";
import type { ErrorOwner, ErrorOwners } from "../error-owners.ts";

const present = new AsyncLocalStorage<ErrorOwner | undefined>();

/** The error owners of this process. `present` is read when Node reports an uncaught error. */
export const processErrorOwners: ErrorOwners & { readonly present: ErrorOwner | undefined } = {
  get present() {
    return present.getStore();
  },
  run: (owner, act) => present.run(owner, act),
  outside(act) {
    const owner = present.getStore();
    return present.run(undefined, () => act((body) => present.run(owner, body)));
  },
};
