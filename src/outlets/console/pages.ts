import type { ConsolePage } from "./console-page.ts";
import { home } from "./pages/home.ts";
import { homes } from "./pages/homes.ts";
import { overview } from "./pages/overview.ts";
import { sessions } from "./pages/sessions.ts";

/** The pages of the console, in the order of the rail. */
export const consolePages: readonly ConsolePage[] = [overview, homes, home, sessions];
