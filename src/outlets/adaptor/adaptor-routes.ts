import type { DeviceReading } from "../../devices/read.ts";
import type { Federation } from "../../federation/federation.ts";
import type { LinkStatus } from "../../federation/link-status.ts";
import { jsonAnswer } from "../../http/answer/answer.ts";
import type { Incoming } from "../../http/request/incoming.ts";
import { required } from "../../http/request/query-or-body.ts";
import type { Route } from "../../http/routes.ts";
import { BadParameter, UnknownDevice } from "../../model/errors.ts";
import { type DeviceId, parseId } from "../../model/ids.ts";
import {
  getLargeStrings,
  getLinkStatus,
  linkAccount,
  replaceAccountToken,
  unlinkAccount,
} from "./adaptor-descriptions.ts";

/** What we would send on in a header: longer or stranger ones are no tokens. */
const tokenShape = /^[\x20-\x7e]{1,4096}$/;

export type AdaptorFederation = Pick<Federation, "link" | "relink" | "unlink" | "status" | "largeStrings">;

/** The adaptor interface (interface 4.3): parameters are checked here, after the secToken and before the ecosystem. */
export function adaptorRoutes(federation: AdaptorFederation, devices: Pick<DeviceReading, "device">): readonly Route[] {
  return [
    {
      methods: ["POST"],
      path: "/adaptor/federatedtokens",
      access: "secToken",
      errors: "adaptor",
      description: linkAccount,
      async answer(incoming, { userId }) {
        const { ecosystemName, accessToken } = readFederatedToken(incoming);
        return federated(await federation.link(userId, ecosystemName, accessToken));
      },
    },
    {
      methods: ["PUT"],
      path: "/adaptor/federatedtokens",
      access: "secToken",
      errors: "adaptor",
      description: replaceAccountToken,
      async answer(incoming, { userId }) {
        const { ecosystemName, accessToken } = readFederatedToken(incoming);
        return federated(await federation.relink(userId, ecosystemName, accessToken));
      },
    },
    {
      methods: ["DELETE"],
      path: "/adaptor/federatedtokens",
      access: "secToken",
      errors: "adaptor",
      description: unlinkAccount,
      async answer(incoming, { userId }) {
        const unlinked = await federation.unlink(userId, required(incoming, "anEcosystemName"));
        const { deviceId, removed, isTokenRevoked } = unlinked;
        return jsonAnswer(200, { DeviceId: String(deviceId), removed, tokenRevoked: isTokenRevoked });
      },
    },
    {
      methods: ["GET"],
      path: "/adaptor/federatedtokens",
      access: "secToken",
      errors: "adaptor",
      description: getLinkStatus,
      answer: async (incoming, { userId }) =>
        jsonAnswer(200, shownStatus(await federation.status(userId, required(incoming, "anEcosystemName")))),
    },
    {
      // POST so that the secToken need not stand in an address.
      methods: ["GET", "POST"],
      path: "/adaptor/largestrings",
      access: "secTokenOrBearer",
      errors: "adaptor",
      scopes: ["devices:read"],
      description: getLargeStrings,
      async answer(incoming, caller) {
        const deviceId = parseId<DeviceId>(required(incoming, "id"));
        if (deviceId === undefined) throw new UnknownDevice();
        // An enterprise token reads for the owner of the device.
        const { userId } = caller.kind === "user" ? caller : await devices.device(caller, deviceId);
        const { labels, identifiers } = await federation.largeStrings(userId, deviceId);
        return jsonAnswer(200, { labels, identifiers });
      },
    },
  ];
}

function readFederatedToken(incoming: Incoming): { readonly ecosystemName: string; readonly accessToken: string } {
  const ecosystemName = required(incoming, "anEcosystemName");
  const accessToken = required(incoming, "anAccessToken");
  if (!tokenShape.test(accessToken)) {
    throw new BadParameter(
      "anAccessToken",
      "The parameter anAccessToken must be 1 to 4096 printable ASCII characters.",
    );
  }
  return { ecosystemName, accessToken };
}

/** Times are milliseconds, under the names that device answers have for them. */
function shownStatus(status: LinkStatus) {
  const { deviceId, isPresent, isStale, confirmedTimeMs, blindIntervals, ...rest } = status;
  return {
    DeviceId: String(deviceId),
    ...rest,
    presenceInfo: isPresent ? 1 : 0,
    stale: isStale,
    confirmedTime: confirmedTimeMs,
    blindIntervals: blindIntervals.map(({ fromMs, toMs, cause }) => ({ from: fromMs, to: toMs, cause })),
  };
}

/** Interface 2.6: the id is a string there. */
function federated(deviceId: DeviceId) {
  return jsonAnswer(200, { DeviceId: String(deviceId) });
}
