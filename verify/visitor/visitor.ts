/** The user at the browser: a person, or a script that signs in. */
export interface Visitor {
  /** Goes through login and terms, and answers the address at which the browser was sent back to the client. */
  authorize(address: string, decision: "accept" | "decline"): Promise<URL>;
}
