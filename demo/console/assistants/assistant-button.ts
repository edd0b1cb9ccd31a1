import type { Html } from "../../../src/web/html.ts";

/** Builds a button that sends `act` to the page of the assistants. The id keeps the focus; by default it is the act. */
export type AssistantButton = (words: string, act: string, id?: string) => Html;
