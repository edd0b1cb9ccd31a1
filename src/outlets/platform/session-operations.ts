import type { Identity } from "../../identity/identity.ts";
import type { CallOrigin, Parameters } from "./parameters.ts";
import type { Element } from "./xml.ts";

export async function userLogin(
  { identity }: { readonly identity: Pick<Identity, "login"> },
  parameters: Parameters,
  from: CallOrigin,
): Promise<readonly Element[]> {
  const login = {
    name: parameters.required("name"),
    password: parameters.required("password"),
    appId: parameters.required("appId"),
  };
  const { userId, secToken } = await identity.login({ ...login, ...from });
  return [
    ["userId", userId],
    ["securityToken", secToken],
  ];
}

export async function userLogout(
  { identity }: { readonly identity: Pick<Identity, "logout"> },
  parameters: Parameters,
): Promise<readonly Element[]> {
  await identity.logout(parameters.required("secToken"));
  return [["retCode", 0]];
}

/** Always empty: this service stores no values for clients. They would be repeated `valueList { name, value }`. */
export async function getUserValueList(): Promise<readonly Element[]> {
  return [];
}
