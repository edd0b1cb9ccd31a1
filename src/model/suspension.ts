/** What a suspended user, or a suspended client, is told. Nothing was deleted: after a resume everything works again. */
export const suspendedSentences = {
  user: "This user is suspended. Ask the operator of this service.",
  client: "This client is suspended. Ask the operator of this service.",
} as const;

export type SuspendedParty = keyof typeof suspendedSentences;
