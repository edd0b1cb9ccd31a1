import assert from "node:assert/strict";
import type { Attack } from "../attack.ts";
import { sendMany } from "../requests.ts";

/** 1,300 wrong passwords from one address, while a neighbour signs in with the right one from another. */
export const signIns: Attack = {
  name: "sign-ins",
  run: (target) =>
    sendMany(target, { count: 1_300, atOnce: 250, forMs: 60_000 }, (place) => ({
      path: "/zdk/services/zamapi/userLogin",
      form: { name: `nobody ${place}`, password: "wrong password", appId: String(target.tenantId) },
    })),
  judge({ signIns: { done, failed } }) {
    assert.ok(done > 0, "the neighbour could not sign in");
    assert.equal(failed, 0, "a right password from another address was refused");
  },
};
