/** A call that Google refuses, with the name of the error. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The state of the device does not allow the command. */
export function notNow(message: string): Refused {
  return new Refused(400, "FAILED_PRECONDITION", message);
}

export function badValue(message: string): Refused {
  return new Refused(400, "INVALID_ARGUMENT", message);
}

export function notFound(message = "Requested entity was not found."): Refused {
  return new Refused(404, "NOT_FOUND", message);
}
