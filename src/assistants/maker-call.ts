/** One call to a maker's service. */
export interface MakerCall {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly token?: string;
  /** Sent as JSON. */
  readonly body?: object;
  /** Sent as a form. */
  readonly form?: Readonly<Record<string, string>>;
}

/** An answer of any status, or why there is none. Neither holds a token. */
export type MakerAnswer =
  | {
      readonly isAnswered: true;
      readonly status: number;
      /** Empty when the body is no JSON object. */
      readonly document: Readonly<Record<string, unknown>>;
      readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
    }
  | { readonly isAnswered: false; readonly detail: string };

/** Makes one call over the network. Redirects are not followed. Never throws. */
export type CallMaker = (call: MakerCall, signal: AbortSignal) => Promise<MakerAnswer>;

/** How long the maker asks to wait, in whole seconds; undefined when it does not say so. */
export function retryAfterMs({ headers }: Extract<MakerAnswer, { readonly isAnswered: true }>): number | undefined {
  const text = headers["retry-after"];
  return typeof text === "string" && /^\d{1,6}$/.test(text) ? Number(text) * 1_000 : undefined;
}
