/** A command that an alert sends when it fires. Trait, command and parameters are those of the trait catalogue. */
export type AlertCommand = CommandTarget & {
  readonly trait: string;
  readonly command: string;
  readonly params: Readonly<Record<string, unknown>>;
};

/** One thing, or all things of a kind that the user has when the alert fires; with `room` only those in this room. */
export type CommandTarget =
  | { readonly thingId: string }
  | { readonly kind: string; readonly room?: string | undefined };
