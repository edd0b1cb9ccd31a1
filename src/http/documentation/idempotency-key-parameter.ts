import type { Description, ErrorDescription, Parameter } from "./description.ts";

const header: Parameter = {
  name: "Idempotency-Key",
  in: "header",
  isRequired: false,
  schema: { type: "string", maxLength: 255 },
  meaning:
    "Makes it safe to repeat this request when its answer was lost. Choose a new random text for each change, of up to 255 printable ASCII characters. For 24 hours the same request with the same key changes nothing and gets the answer of the first, with the header `Idempotency-Replayed: true`. A key counts for one client and one user (or tenant). A refused request may be repeated with its key.",
};

const errors: readonly ErrorDescription[] = [
  {
    status: 409,
    code: "idempotency_key_in_use",
    when: "A request with this `Idempotency-Key` is under way. `Retry-After` says when to repeat this one.",
  },
  {
    status: 409,
    code: "too_many_idempotency_keys",
    when: "This user or tenant used 100,000 idempotency keys in 24 hours, or their answers take 32 MB. Nothing was changed; the request passes without a key.",
  },
  {
    status: 422,
    code: "idempotency_key_reused",
    when: "This `Idempotency-Key` was used for a request with another method, path or body. Nothing was changed.",
  },
];

/** The description of a route that takes an `Idempotency-Key`. */
export function withIdempotencyKey(description: Description): Description {
  return {
    ...description,
    parameters: [...(description.parameters ?? []), header],
    errors: [...(description.errors ?? []), ...errors],
  };
}
