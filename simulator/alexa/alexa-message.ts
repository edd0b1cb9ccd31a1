export interface Property {
  readonly namespace: string;
  readonly name: string;
  readonly instance?: string;
  readonly value: unknown;
  readonly timeOfSample: string;
  readonly uncertaintyInMilliseconds: number;
}

/** An event, as a skill sends it. */
export interface AlexaMessage {
  readonly context?: { readonly properties: readonly Property[] };
  readonly event: {
    readonly header: {
      readonly namespace: string;
      readonly name: string;
      readonly messageId: string;
      readonly correlationToken?: string;
    };
    readonly endpoint?: { readonly endpointId: string; readonly scope?: { readonly token: string } };
    readonly payload: Readonly<Record<string, unknown>>;
  };
}
