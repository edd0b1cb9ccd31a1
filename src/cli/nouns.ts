import type { Noun } from "./admin-command.ts";
import { audit } from "./nouns/audit.ts";
import { backup } from "./nouns/backup.ts";
import { client } from "./nouns/client.ts";
import { device } from "./nouns/device.ts";
import { key } from "./nouns/key.ts";
import { status } from "./nouns/status.ts";
import { tenant } from "./nouns/tenant.ts";
import { user } from "./nouns/user.ts";

/** All that an administrator can speak of, in the order of the help. */
export const nouns: readonly Noun[] = [tenant, user, client, device, audit, status, backup, key];
