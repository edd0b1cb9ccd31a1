/** The user who signs in: a person with a browser, or a script. */
export interface Visitor {
  /** Goes through login and terms. Returns the redirect to the client. */
  authorize(address: string, decision: "accept" | "decline"): Promise<URL>;
}
