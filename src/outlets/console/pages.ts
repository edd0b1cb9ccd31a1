import type { ConsolePage } from "./console-page.ts";
import { client } from "./pages/client.ts";
import { clients } from "./pages/clients.ts";
import { overview } from "./pages/overview.ts";
import { sessions } from "./pages/sessions.ts";

/** The pages of the console, in the order of the rail. */
export const consolePages: readonly ConsolePage[] = [overview, clients, client, sessions];
