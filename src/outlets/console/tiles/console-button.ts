import { html } from "../../../web/html.ts";
import { hiddenFields } from "../../../web/page.ts";
import type { Button } from "./button.ts";

/** A command in the options of `home command`. */
interface CommandInput {
  readonly trait: string;
  readonly command: string;
  readonly param?: string;
}

const stepCelsius = 0.5;

/** Buttons that send a command to a thing of this user, and then show the page `to` again. */
export function commandButtons(user: number, to: string): Button {
  return (label, action, { id = action, isPressed, disabledBy } = {}) => {
    const [name = "", thing = ""] = action.split(":");
    const input = commandOf(name);
    const fields = { act: "home command", to, user: String(user), thing, ...input };
    const pressed = isPressed === undefined ? undefined : html` aria-pressed="${String(isPressed)}"`;
    const disabled = disabledBy === undefined ? undefined : html` disabled aria-describedby="${disabledBy}"`;
    return html`<form class="act" method="post" action="/console/do" data-quick>${hiddenFields(fields)}<button id="${id}"${pressed}${disabled}>${label}</button></form>`;
  };
}

/** For operators who may change nothing, and for a state that is not current: these buttons can't be pressed. */
export function stoppedButtons(reasonId: string): Button {
  return (label, action, { id = action } = {}) =>
    html`<button id="${id}" disabled aria-describedby="${reasonId}">${label}</button>`;
}

/** The command of a button's name, such as `run-fan` or `mode-heat`. */
function commandOf(name: string): Readonly<Record<string, string>> {
  const commandInput = (trait: string, command: string, param?: string): CommandInput => ({
    trait,
    command,
    ...(param !== undefined && { param }),
  });
  return { ...commandNamed(name, commandInput) };
}

function commandNamed(
  name: string,
  commandInput: (trait: string, command: string, param?: string) => CommandInput,
): CommandInput {
  switch (name) {
    case "run-fan":
      return commandInput("fanTimer", "start");
    case "stop-fan":
      return commandInput("fanTimer", "stop");
    case "on":
    case "off":
      return commandInput("onOff", "set", `on=${name === "on"}`);
    case "warmer":
      return commandInput("thermostat", "adjustTarget", `deltaCelsius=${stepCelsius}`);
    case "cooler":
      return commandInput("thermostat", "adjustTarget", `deltaCelsius=${-stepCelsius}`);
  }
  const [, kind, value = ""] = /^(mode|fan|bright|speed)-(\w+)$/.exec(name) ?? [];
  switch (kind) {
    case "mode":
      return commandInput("thermostat", "setMode", `mode=${value}`);
    case "fan":
      return commandInput("fan", "setMode", `mode=${value}`);
    case "bright":
      return commandInput("brightness", "set", `percent=${value}`);
    case "speed":
      return commandInput("fan", "setPercent", `percent=${value}`);
  }
  throw new TypeError(`there is no command for the button ${name}`);
}
