/** A refused call: HTTP status, stable code, and a sentence for people. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, sentence: string) {
    super(sentence);
    this.name = "Refusal";
    this.status = status;
    this.code = code;
  }
}

/** The call is invalid for every account. */
export function badArgument(sentence: string): Refusal {
  return new Refusal(400, "bad_argument", sentence);
}

/** The call is valid, but not possible in the current state of the account. */
export function impossible(sentence: string): Refusal {
  return new Refusal(409, "impossible", sentence);
}

export function notFound(sentence: string): Refusal {
  return new Refusal(404, "not_found", sentence);
}
