import type { ConsolePage } from "./console-page.ts";
import { alert } from "./pages/alert.ts";
import { editAlert } from "./pages/alert-edit.ts";
import { newAlert } from "./pages/alert-new.ts";
import { alerts } from "./pages/alerts.ts";
import { assistant } from "./pages/assistant.ts";
import { assistants } from "./pages/assistants.ts";
import { audit } from "./pages/audit.ts";
import { client } from "./pages/client.ts";
import { clients } from "./pages/clients.ts";
import { device } from "./pages/device.ts";
import { events } from "./pages/events.ts";
import { home } from "./pages/home.ts";
import { homes } from "./pages/homes.ts";
import { operator } from "./pages/operator.ts";
import { operators } from "./pages/operators.ts";
import { overview } from "./pages/overview.ts";
import { request } from "./pages/request.ts";
import { requests } from "./pages/requests.ts";
import { search } from "./pages/search.ts";
import { sessions } from "./pages/sessions.ts";
import { system } from "./pages/system.ts";
import { tenant } from "./pages/tenant.ts";
import { tenants } from "./pages/tenants.ts";
import { things } from "./pages/things.ts";
import { user } from "./pages/user.ts";
import { users } from "./pages/users.ts";
import { verification } from "./pages/verification.ts";
import { webhook } from "./pages/webhook.ts";
import { webhooks } from "./pages/webhooks.ts";

/** The pages of the console, in the order of the rail. */
export const consolePages: readonly ConsolePage[] = [
  overview,
  homes,
  home,
  things,
  device,
  events,
  alerts,
  newAlert,
  alert,
  editAlert,
  search,
  webhooks,
  webhook,
  assistants,
  assistant,
  users,
  user,
  clients,
  client,
  tenants,
  tenant,
  requests,
  request,
  audit,
  system,
  verification,
  operators,
  operator,
  sessions,
];
