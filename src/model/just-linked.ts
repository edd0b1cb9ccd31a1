/**
 * The reason for the state of a new link, and the cause of its first blind interval. It is stored and shown to clients, so
 * it must not change.
 */
export const justLinked = "just linked";
