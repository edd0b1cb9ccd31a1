import { BadParameter } from "../../../model/errors.ts";
import type { AdminCommand } from "../../administration/admin-command.ts";
import { optional, texts } from "../../input.ts";
import {
  chosenClient,
  clientArgument,
  readIssuer,
  returnUrlMeaning,
  vouchesMeaning,
  withIssuerOption,
} from "./chosen-client.ts";

/** Changes the registration of a client. */
export const edit: AdminCommand = {
  name: "client edit",
  meaning: "change how a client is registered; what is not named stays",
  examples: [
    "client edit bwc_… --redirect-uri https://voice.example/callback https://voice.example/other",
    'client edit bwc_… --name "Voice 2"',
    "client edit bwc_… --return-url https://app.example/linked",
    "client edit bwc_… --vouches-for-users",
    "client edit bwc_… --no-return-url",
    "client edit bwc_… --no-issuer",
  ],
  arguments: [clientArgument],
  options: (command) =>
    withIssuerOption(
      command
        .option("--client <id>", "the same, as an option")
        .option("--name <name>", "the name that users read before they give it access")
        .option("--redirect-uri <uri...>", "addresses to which users are sent back; replaces the addresses before")
        .option("--return-url <url...>", `${returnUrlMeaning}; replaces the addresses before`)
        .option("--no-return-url", "remove all return addresses")
        .option("--vouches-for-users", vouchesMeaning)
        .option("--no-vouches-for-users", "link pages ask its users to sign in"),
    ),
  async act({ clients }, input) {
    const { "return-url": urls, "vouches-for-users": isVouching, "redirect-uri": uris } = input;
    const issuer = readIssuer(input);
    if ([urls, isVouching, uris, issuer, input.name].every((one) => one === undefined)) {
      throw new BadParameter(
        "client",
        "Name what to change: --name, --redirect-uri, --return-url, --vouches-for-users, --issuer, or the --no- forms of the last three.",
      );
    }
    const { id } = await chosenClient(clients, input);
    const client = await clients.editClient(id, {
      name: optional(input, "name"),
      redirectUris: uris === undefined ? undefined : texts(input, "redirect-uri"),
      returnUrls: urls === undefined ? undefined : urls === false ? [] : texts(input, "return-url"),
      vouchesForUsers: isVouching === undefined ? undefined : isVouching !== false,
      sendsIssuer: issuer,
    });
    const { tenantId, id: clientId, name, redirectUris, returnUrls, vouchesForUsers, sendsIssuer } = client;
    const detail = {
      name,
      "redirect-uri": uris === undefined ? undefined : redirectUris,
      "return-url": returnUrls,
      "vouches-for-users": vouchesForUsers,
      issuer,
    };
    const answer = {
      client_id: clientId,
      name,
      redirect_uris: redirectUris,
      return_urls: returnUrls,
      vouches_for_users: vouchesForUsers,
      sends_issuer: sendsIssuer,
    };
    return { answer, changed: { tenantId, clientId, detail } };
  },
  toText({ name, redirect_uris, return_urls, vouches_for_users, sends_issuer }) {
    const redirects = redirect_uris.length === 0 ? "no redirect address" : `redirects to ${redirect_uris.join(", ")}`;
    const addresses = return_urls.length === 0 ? "It has no return address" : `It returns to ${return_urls.join(", ")}`;
    const signIn = vouches_for_users
      ? "vouches for its users"
      : "does not vouch for its users: link pages ask them to sign in";
    const issuer = sends_issuer ? "" : " It gets no iss.";
    return `Changed client ${name} (${redirects}). ${addresses}, and ${signIn}.${issuer}`;
  },
};
