import { randomUUID } from "node:crypto";
import { AccessEnded } from "../account-linking/linked-account.ts";

/** Google gives up after this time. */
const waitMs = 10_000;

/** An intent, as Google sends it to a cloud. */
export interface IntentRequest {
  readonly requestId: string;
  readonly inputs: readonly { readonly intent: string; readonly payload?: object }[];
}

export function intentRequest(name: string, payload?: object): IntentRequest {
  return { requestId: randomUUID(), inputs: [{ intent: `action.devices.${name}`, ...(payload && { payload }) }] };
}

export interface FulfilmentAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are read as Google reads them, member by member
  readonly body: any;
}

/** Sends an intent to the fulfilment address of a cloud. */
export type Fulfil = (request: IntentRequest, accessToken: string) => Promise<FulfilmentAnswer>;

export function fulfilmentAt(url: string): Fulfil {
  return async (request, accessToken) => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${accessToken}` },
      body: JSON.stringify(request),
      signal: AbortSignal.timeout(waitMs),
    }).catch(() => {
      throw new Error("No answer came from the cloud.");
    });
    return { status: response.status, body: await response.json().catch(() => undefined) };
  };
}

/** Why an answer has no payload; undefined if it has one. */
export function refusalOf({ status, body }: FulfilmentAnswer): Error | undefined {
  if (status === 200 && body?.payload) return undefined;
  const text = body?.error_description ?? body?.error ?? "";
  const sentence = `The cloud answered ${status}${text ? `: ${text}` : ""}`;
  return status === 401 || status === 403 ? new AccessEnded(sentence) : new Error(sentence);
}
