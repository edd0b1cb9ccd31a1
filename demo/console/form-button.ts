import type { Button, ButtonOptions } from "../../src/outlets/console/tiles/button.ts";
import { type Html, html } from "../../src/web/html.ts";

/** Buttons that work without JavaScript: each is a form. */
export function formButtons(formToken: string): Button {
  return (label, action, options) =>
    html`<form class="act" method="post" action="/demo/do"><input type="hidden" name="form" value="${formToken}">${buttonOf(label, action, options)}</form>`;
}

/** For a page whose state is unknown: these buttons can't be pressed. */
export const disabledButton: Button = (label, action, { disabledBy, isPressed, ...options } = {}) =>
  buttonOf(label, action, options, html` disabled`);

function buttonOf(label: string, action: string, options: ButtonOptions = {}, state = stateOf(options)): Html {
  const { kind = "", id = action } = options;
  return html`<button class="${kind}" id="${id}" name="act" value="${action}"${state}>${label}</button>`;
}

function stateOf({ disabledBy, isPressed }: ButtonOptions): Html {
  const pressed = isPressed === undefined ? undefined : html` aria-pressed="${String(isPressed)}"`;
  return html`${pressed}${disabledBy === undefined ? undefined : html` disabled aria-describedby="${disabledBy}"`}`;
}
