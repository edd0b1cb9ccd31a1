import type { Home } from "../../home/home.ts";
import { EcosystemRefused, EcosystemUnreachable } from "../../model/errors.ts";
import { readBody } from "../kit/body.ts";
import { parseJson } from "../kit/parse-json.ts";
import type { NestApi } from "./api.ts";
import { readSnapshot } from "./snapshot.ts";

/**
 * Reads the whole account once. The errors have no cause: Node's errors may hold the received bytes, which contain the
 * token.
 */
export async function readHome(api: NestApi, name: string, token: string, signal: AbortSignal): Promise<Home> {
  const opening = await api.open(token, "application/json", signal);
  if (!opening.isOpen) {
    const { reason, detail } = opening.end;
    if (reason === "unauthorized") throw new EcosystemRefused(`${name} refused the token: ${detail}.`);
    throw unreachable(name, signal.aborted ? "no answer in time" : detail);
  }
  const body = await readBody(opening.response, signal);
  if (body === undefined) throw unreachable(name, "the answer broke off, or was too large");
  const document = parseJson(body);
  if (document === undefined) throw unreachable(name, "the answer is not JSON that can be read");
  return readSnapshot(document);
}

function unreachable(name: string, detail: string): EcosystemUnreachable {
  return new EcosystemUnreachable(`${name} could not be read: ${detail}.`);
}
