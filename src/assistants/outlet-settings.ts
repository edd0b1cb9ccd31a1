import { settingDefinitions as alexa } from "./alexa/settings.ts";
import type { AssistantKind, SettingDefinition } from "./assistant.ts";
import { settingDefinitions as googleHome } from "./google-home/settings.ts";

const byKind: Readonly<Partial<Record<AssistantKind, readonly SettingDefinition[]>>> = {
  "google-home": googleHome,
  alexa,
};

/** The settings of all kinds, for the command line, which does not load the assistants themselves. */
export const outletSettings: readonly (SettingDefinition & { readonly kind: AssistantKind })[] = Object.entries(
  byKind,
).flatMap(([kind, settings]) => settings.map((setting) => ({ ...setting, kind: kind as AssistantKind })));
