import type { ClientRequest } from "node:http";

/** Servers send one interim answer (1xx) or none. */
const mostInterimAnswers = 10;

/** Ends a request whose server sends interim answers without end: it could keep a core busy until the time limit. */
export function limitInterimAnswers(request: ClientRequest): void {
  let count = 0;
  request.on("information", () => {
    count += 1;
    if (count > mostInterimAnswers) request.destroy(new Error("The server sent too many interim answers."));
  });
}
