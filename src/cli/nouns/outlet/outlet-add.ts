import type { AssistantKind } from "../../../assistants/assistant.ts";
import { assistantKinds } from "../../../assistants/assistant.ts";
import { outletSettings } from "../../../assistants/outlet-settings.ts";
import type { AdminCommand } from "../../administration/admin-command.ts";
import { readFileText } from "../../file-argument.ts";
import { optional, text } from "../../input.ts";
import { readSecret } from "../../terminal/secret-input.ts";
import { askValue } from "../../terminal/value-input.ts";
import { setUpInWords } from "./outlet-set-up.ts";

export const addOutlet: AdminCommand = {
  name: "outlet add",
  meaning: "connect a tenant's users to a voice assistant; prints what to enter in the console of its maker",
  examples: [
    "outlet add alexa --tenant Acme",
    "outlet add google-home --tenant Acme --project-id acme-home --service-account key.json",
  ],
  arguments: [{ name: "kind", meaning: "the assistant", isRequired: true, choices: [...assistantKinds] }],
  options(command) {
    const described = command
      .requiredOption("--tenant <name or id>", "the tenant whose users may link the assistant")
      .option("--name <name>", "the name that users read before they give it access; by default that of the assistant");
    return outletSettings
      .filter(({ type }) => type !== "secret")
      .reduce(
        (known, { kind, name, type, meaning, isOptional }) =>
          known.option(`--${name} <${type}>`, `${kind}: ${meaning}${isOptional ? "" : " (required)"}`),
        described,
      );
  },
  /**
   * On a terminal, what is missing is asked for. Files are read here, because the service may run as another user; secrets
   * are asked for, and never typed as options.
   */
  async extraInput(typed, terminal) {
    const settings: Record<string, string> = {};
    for (const { kind, name, type, meaning, isOptional } of outletSettings) {
      if (kind !== typed.kind) continue;
      const isPrompted = type !== "secret" && !isOptional;
      const value = optional(typed, name) ?? (isPrompted ? await askValue(terminal, meaning) : undefined);
      if (type === "secret") {
        const variable = `BREEZEWAY_${name.toUpperCase().replaceAll("-", "_")}`;
        const secret = await readSecret(terminal, { what: meaning, variable });
        if (secret !== undefined) settings[name] = secret;
      } else if (value !== undefined) {
        settings[name] = type === "file" ? readFileText(name, value) : value;
      }
    }
    return { settings };
  },
  async act({ assistants }, input) {
    const { outlet, client, secret, setUp } = await assistants.outlets.add({
      tenant: text(input, "tenant"),
      kind: text(input, "kind") as AssistantKind,
      name: optional(input, "name"),
      settings: (input.settings ?? {}) as Readonly<Record<string, string>>,
    });
    const { tenantId, id: clientId, name } = client;
    const detail = { outlet: outlet.id, kind: outlet.kind, name };
    return {
      answer: { outlet: outlet.id, kind: outlet.kind, client_id: clientId, client_secret: secret, setUp },
      changed: { tenantId, clientId, detail },
    };
  },
  toText: ({ outlet, kind, setUp }, _typed, width) =>
    [
      `Added outlet ${outlet} to ${kind}. Enter this in its maker's console:`,
      "",
      setUpInWords(setUp, width),
      "",
      "The secret is shown only now: the service stores a hash of it.",
      `Then: breezeway outlet check ${outlet}`,
    ].join("\n"),
};
