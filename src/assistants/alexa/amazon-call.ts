/** One call to Amazon. The service hands in what makes it: this folder has no network. */
export interface AmazonCall {
  readonly method: "POST";
  readonly url: string;
  /** Sent as `Authorization: Bearer`. */
  readonly token?: string;
  /** Sent as JSON. */
  readonly body?: object;
  /** Sent as a form. */
  readonly form?: Readonly<Record<string, string>>;
}

/** An answer of any status, or why there is none. */
export type AmazonAnswer =
  | {
      readonly isAnswered: true;
      readonly status: number;
      /** Empty when the body is no JSON object. */
      readonly document: Readonly<Record<string, unknown>>;
    }
  | { readonly isAnswered: false; readonly detail: string };

/** Makes the call. Never throws. */
export type CallAmazon = (call: AmazonCall, signal: AbortSignal) => Promise<AmazonAnswer>;

/** Where Amazon is. */
export interface AmazonAddresses {
  /** The token endpoint of Login with Amazon. */
  readonly tokenUrl: string;
  /** The event gateway of each region, without the path. */
  readonly gateways: Readonly<Record<"na" | "eu" | "fe", string>>;
}
