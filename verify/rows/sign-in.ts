import { summaryOf } from "../client/answer-summary.ts";
import { element } from "../client/xml.ts";
import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";

export const signIn: Row = {
  name: "sign-in",
  group: "The linked account",
  title: "Platform clients sign in",
  proves: "userLogin gives a secToken that the adaptor and all platform calls accept.",
  isEssential: true,
  needs: ["password", "app-id"],
  after: ["errors"],
  async run({ deployment, shared, input, secrets }) {
    const { name, password } = input.person!;
    const answer = await deployment.platform("userLogin", { name, password, appId: input.appId });
    const secToken = secrets.keep(element(answer.text, "securityToken"));
    ensure(answer.status === 200 && secToken !== undefined && secToken !== "", () => ({
      seen: `userLogin was ${answer.status}, fault ${element(answer.text, "errorCode") ?? "none"}, not a securityToken.`,
      side: element(answer.text, "errorCode") === "101" ? "client" : "service",
      next: "Check --user, the password and --app-id: the id of the user's tenant (breezeway tenant list).",
    }));
    const list = await deployment.platform("getDeviceList", { secToken });
    ensure(list.status === 200 && element(list.text, "ns1:getDeviceListResponse") !== undefined, () => ({
      seen: `getDeviceList with the new secToken was ${summaryOf(list)}.`,
      side: "between",
      next: "Check whether a proxy changes the XML.",
    }));
    shared.secToken = secToken;
    return { seen: "userLogin gave a secToken, and getDeviceList accepted it." };
  },
};
