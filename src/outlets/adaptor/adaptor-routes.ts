import type { DeviceReading } from "../../devices/read.ts";
import type { Federation } from "../../federation/federation.ts";
import type { LinkStatus } from "../../federation/link-status.ts";
import { jsonAnswer } from "../../http/answer/answer.ts";
import type { Incoming } from "../../http/request/incoming.ts";
import { optionalParameter, requiredParameter } from "../../http/request/query-or-body.ts";
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

/** Tokens that can be sent in a header; anything else is refused. */
const tokenShape = /^[\x20-\x7e]{1,4096}$/;

export type AdaptorFederation = Pick<Federation, "link" | "relink" | "unlink" | "status" | "largeStrings">;

/**
 * The adaptor interface (docs/interface.md, The adaptor). Parameters are checked after the secToken and before the
 * ecosystem is called.
 */
export function adaptorRoutes(federation: AdaptorFederation, devices: Pick<DeviceReading, "device">): readonly Route[] {
  return [
    {
      methods: ["POST"],
      path: "/adaptor/federatedtokens",
      access: "secToken",
      errors: "adaptor",
      description: linkAccount,
      async answer(incoming, { userId }) {
        const { ecosystemName, accessToken, address } = readFederatedToken(incoming);
        const { disconnected } = incoming;
        return federated(await federation.link(userId, ecosystemName, accessToken, address, { disconnected }));
      },
    },
    {
      methods: ["PUT"],
      path: "/adaptor/federatedtokens",
      access: "secToken",
      errors: "adaptor",
      description: replaceAccountToken,
      async answer(incoming, { userId }) {
        const { ecosystemName, accessToken, address } = readFederatedToken(incoming);
        const { disconnected } = incoming;
        return federated(await federation.relink(userId, ecosystemName, accessToken, address, { disconnected }));
      },
    },
    {
      methods: ["DELETE"],
      path: "/adaptor/federatedtokens",
      access: "secToken",
      errors: "adaptor",
      description: unlinkAccount,
      async answer(incoming, { userId }) {
        const unlinked = await federation.unlink(userId, requiredParameter(incoming, "anEcosystemName"));
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
        jsonAnswer(200, statusBody(await federation.status(userId, requiredParameter(incoming, "anEcosystemName")))),
    },
    {
      // POST keeps the secToken out of addresses.
      methods: ["GET", "POST"],
      path: "/adaptor/largestrings",
      access: "secTokenOrBearer",
      errors: "adaptor",
      scopes: ["devices:read"],
      description: getLargeStrings,
      async answer(incoming, caller) {
        const deviceId = parseId<DeviceId>(requiredParameter(incoming, "id"));
        if (deviceId === undefined) throw new UnknownDevice();
        // An enterprise token reads on behalf of the device's owner.
        const { userId } = caller.kind === "user" ? caller : await devices.device(caller, deviceId);
        const { labels, identifiers } = await federation.largeStrings(userId, deviceId);
        return jsonAnswer(200, { labels, identifiers });
      },
    },
  ];
}

interface FederatedToken {
  readonly ecosystemName: string;
  readonly accessToken: string;
  /** The address of the account, for an ecosystem whose accounts have one each. */
  readonly address: string | undefined;
}

function readFederatedToken(incoming: Incoming): FederatedToken {
  const ecosystemName = requiredParameter(incoming, "anEcosystemName");
  const accessToken = requiredParameter(incoming, "anAccessToken");
  if (!tokenShape.test(accessToken)) {
    throw new BadParameter(
      "anAccessToken",
      "The parameter anAccessToken must be 1 to 4096 printable ASCII characters.",
    );
  }
  return { ecosystemName, accessToken, address: optionalParameter(incoming, "anEcosystemUrl") };
}

/** Times are milliseconds, with the names that device answers use. */
function statusBody(status: LinkStatus) {
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

/** Interface 2.6: the id is a string. */
function federated(deviceId: DeviceId) {
  return jsonAnswer(200, { DeviceId: String(deviceId) });
}
