import type { Html } from "../../../web/html.ts";

/** Builds a button that sends `action`: its name and a thing, as in `run-fan:t_…`. */
export type Button = (label: string, action: string, options?: ButtonOptions) => Html;

export interface ButtonOptions {
  /** Keeps the focus on the button when its action changes. By default the action. */
  readonly id?: string;
  /** Whether the button stands for the value that is set now. */
  readonly isPressed?: boolean;
  /** The id of the text that says why the button is disabled. */
  readonly disabledBy?: string | undefined;
}
