/** Something asked of the simulator that it can't do: what HTTP says of it, a stable code, and a sentence for people. */
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

/** The caller wrote something that makes no sense, whatever the account looks like. */
export function badArgument(sentence: string): Refusal {
  return new Refusal(400, "bad_argument", sentence);
}

/** The call is sound, but the account isn't in a state where it could happen. */
export function impossible(sentence: string): Refusal {
  return new Refusal(409, "impossible", sentence);
}

export function notFound(sentence: string): Refusal {
  return new Refusal(404, "not_found", sentence);
}
