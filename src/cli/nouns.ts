import type { Noun } from "./noun.ts";
import { alert } from "./nouns/alert/alert.ts";
import { audit } from "./nouns/audit.ts";
import { backedUpNoun } from "./nouns/backup/backed-up.ts";
import { backup } from "./nouns/backup/backup.ts";
import { restoreNoun } from "./nouns/backup/restore.ts";
import { restoredNoun } from "./nouns/backup/restored.ts";
import { client } from "./nouns/client/client.ts";
import { compactNoun } from "./nouns/compact.ts";
import { completionNoun } from "./nouns/completion.ts";
import { config } from "./nouns/config.ts";
import { device } from "./nouns/device/device.ts";
import { deviceType } from "./nouns/device/device-type.ts";
import { doctorNoun } from "./nouns/doctor.ts";
import { ecosystem } from "./nouns/ecosystem.ts";
import { event } from "./nouns/event.ts";
import { fan } from "./nouns/fan.ts";
import { grant } from "./nouns/grant.ts";
import { home } from "./nouns/home/home.ts";
import { hook } from "./nouns/hook.ts";
import { key } from "./nouns/key.ts";
import { link } from "./nouns/link/link.ts";
import { migrateNoun } from "./nouns/migrate.ts";
import { operator } from "./nouns/operator/operator.ts";
import { outlet } from "./nouns/outlet/outlet.ts";
import { activity } from "./nouns/overview/activity.ts";
import { attention } from "./nouns/overview/attention.ts";
import { profile } from "./nouns/profile.ts";
import { quota } from "./nouns/quota.ts";
import { request } from "./nouns/request.ts";
import { selfCheckNoun } from "./nouns/self-check.ts";
import { status } from "./nouns/status.ts";
import { system } from "./nouns/system.ts";
import { tenant } from "./nouns/tenant.ts";
import { thing } from "./nouns/thing/thing.ts";
import { user } from "./nouns/user.ts";
import { verification } from "./nouns/verify/verification.ts";
import { verifyNoun } from "./nouns/verify/verify.ts";
import { webhook } from "./nouns/webhook.ts";

/** Nouns by topic, in the order of the help. */
export const groups: readonly { readonly title: string; readonly nouns: readonly Noun[] }[] = [
  { title: "Tenants, users and clients:", nouns: [tenant, user, client, grant, quota, outlet] },
  { title: "Homes:", nouns: [ecosystem, link, home, device, deviceType, thing, fan, alert, event, webhook, hook] },
  {
    title: "Operation:",
    nouns: [
      operator,
      status,
      attention,
      activity,
      system,
      doctorNoun,
      selfCheckNoun,
      verifyNoun,
      verification,
      config,
      audit,
      request,
      backup,
      backedUpNoun,
      restoreNoun,
      restoredNoun,
      migrateNoun,
      compactNoun,
      key,
    ],
  },
  { title: "This command line:", nouns: [profile, completionNoun] },
];

/** All nouns. */
export const nouns: readonly Noun[] = groups.flatMap((group) => group.nouns);
