/** Whoever stands in front of the browser. */
export interface Visitor {
  /** Goes through login and terms, and answers the address at which the browser was sent back to the client. */
  authorize(address: string, decision: "accept" | "decline"): Promise<URL>;
}
