import { Breezeway, EcosystemClient } from "@breezeway/sdk";

/** Links a user's home and lets it switch a lamp: on when somebody comes home, off when everybody leaves. */
export async function linkHome({ baseUrl, login, ecosystem, askUser, lampId }) {
  // 1. The user consents on the ecosystem's page, and the browser comes back to an address of yours.
  const nest = new EcosystemClient(ecosystem);
  const { url, state } = await nest.begin();
  const callback = await askUser(url);

  // 2. The code in that address is exchanged for a token of the ecosystem.
  const { accessToken } = await nest.finish(callback, state);

  // 3. Breezeway gets the token. When it answers, the home is linked.
  const breezeway = new Breezeway({ baseUrl });
  breezeway.setEcoCloudUrl(`${baseUrl}/adaptor`);
  await breezeway.login(login);
  const { deviceId } = await breezeway.updateFederatedToken("nest", accessToken);

  // 4. The home is one virtual device among the user's devices.
  const devices = await breezeway.getDevices();
  if (!devices.some((device) => device.deviceId === deviceId)) throw new Error("The linked home isn't in the list.");
  const { attributes } = await breezeway.getDevice(deviceId);

  // 5. Indexes in attribute names are arbitrary: find them by friendly names.
  const [home] = (await breezeway.getHomeNames(deviceId)).structures;
  const away = home.attribute("away");

  // 6. Two alerts write to the lamp.
  const alert = { deviceId, attrName: away, action: "attribute", operation: "regex", autoDisarm: true };
  const switched = (value) => [{ deviceId: lampId, attributeName: "power", value }];
  await breezeway.addTrigger({ ...alert, stringThreshold: "home", targetDeviceAttributes: switched("on") });
  await breezeway.addTrigger({ ...alert, stringThreshold: "away|auto-away", targetDeviceAttributes: switched("off") });
  return { deviceId, name: home.name, away: attributes[away].value };
}
