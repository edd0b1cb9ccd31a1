/** The OpenID provider said no, or its answer is not valid. */
export class OpenIdRefused extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "OpenIdRefused";
  }
}

/** The OpenID provider can't be reached, or gave no usable answer. */
export class OpenIdUnavailable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "OpenIdUnavailable";
  }
}
