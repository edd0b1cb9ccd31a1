import type { Row } from "./row.ts";
import { alerts } from "./rows/alerts.ts";
import { alive } from "./rows/alive.ts";
import { authorize } from "./rows/authorize.ts";
import { codeOnce } from "./rows/code-once.ts";
import { cursor } from "./rows/cursor.ts";
import { cutStream } from "./rows/cut-stream.ts";
import { declined } from "./rows/declined.ts";
import { discovery } from "./rows/discovery.ts";
import { errors } from "./rows/errors.ts";
import { events } from "./rows/events.ts";
import { eventsResume } from "./rows/events-resume.ts";
import { exchange } from "./rows/exchange.ts";
import { fanAccepted } from "./rows/fan-accepted.ts";
import { fanRefused } from "./rows/fan-refused.ts";
import { fields } from "./rows/fields.ts";
import { foreign } from "./rows/foreign.ts";
import { link } from "./rows/link.ts";
import { linkedAgain } from "./rows/linked-again.ts";
import { mirror } from "./rows/mirror.ts";
import { paging } from "./rows/paging.ts";
import { pkce } from "./rows/pkce.ts";
import { ready } from "./rows/ready.ts";
import { redirectRefused } from "./rows/redirect-refused.ts";
import { refresh } from "./rows/refresh.ts";
import { refreshRetry } from "./rows/refresh-retry.ts";
import { refreshReuse } from "./rows/refresh-reuse.ts";
import { rename } from "./rows/rename.ts";
import { revoke } from "./rows/revoke.ts";
import { signIn } from "./rows/sign-in.ts";
import { state } from "./rows/state.ts";
import { times } from "./rows/times.ts";
import { unlink } from "./rows/unlink.ts";
import { unlinked } from "./rows/unlinked.ts";
import { users } from "./rows/users.ts";
import { webhooks } from "./rows/webhooks.ts";
import { write } from "./rows/write.ts";

/**
 * All rows in the order in which they run. A cut stream may take a while to recover, so the rows after `cutStream` do
 * not need it. `revoke` ends the tokens that all other rows use, so it is the last one.
 */
export const rows: readonly Row[] = [
  alive,
  ready,
  discovery,
  errors,
  redirectRefused,
  authorize,
  state,
  declined,
  exchange,
  pkce,
  codeOnce,
  refresh,
  refreshRetry,
  refreshReuse,
  users,
  fields,
  paging,
  cursor,
  foreign,
  write,
  times,
  signIn,
  unlinked,
  link,
  linkedAgain,
  mirror,
  rename,
  fanAccepted,
  fanRefused,
  alerts,
  cutStream,
  events,
  eventsResume,
  webhooks,
  unlink,
  revoke,
];
