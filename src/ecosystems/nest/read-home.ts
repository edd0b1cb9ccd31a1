import type { Home } from "../../home/home.ts";
import { EcosystemRefused, EcosystemUnreachable } from "../../model/errors.ts";
import { limits } from "../../model/limits.ts";
import type { ReadLargeJson } from "../../runtime/json/json-thread.ts";
import { readBody } from "../kit/body.ts";
import type { UnfinishedMessages } from "../kit/unfinished-messages.ts";
import type { NestApi } from "./api.ts";
import { accountProjection, readSnapshot } from "./snapshot.ts";

export interface ReadParts {
  readonly api: NestApi;
  /** The configured name. */
  readonly name: string;
  readonly readJson: ReadLargeJson;
  readonly unfinished: UnfinishedMessages;
}

/**
 * Reads the whole account once. The errors have no cause: Node's errors may hold the received bytes, which contain the
 * token.
 */
export async function readHome(parts: ReadParts, token: string, signal: AbortSignal): Promise<Home> {
  const { api, name, readJson, unfinished } = parts;
  const opening = await api.open(token, "application/json", signal);
  if (!opening.isOpen) {
    const { reason, detail } = opening.end;
    if (reason === "unauthorized") throw new EcosystemRefused(`${name} refused the token: ${detail}.`);
    throw unreachable(name, signal.aborted ? "no answer in time" : detail);
  }
  const body = await readBody(opening.response, limits.streamMessageBytes, signal, unfinished);
  if (body === undefined) throw unreachable(name, "the answer broke off, or was too large");
  const document = await readJson(token, body, accountProjection, signal);
  if (document === undefined) throw unreachable(name, "the answer is not JSON that can be read");
  return readSnapshot(document);
}

function unreachable(name: string, detail: string): EcosystemUnreachable {
  return new EcosystemUnreachable(`${name} could not be read: ${detail}.`);
}
