import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

/** Ways to refuse, or to accept the link and then end the stream with a message. */
export const refusals = ["401", "400", "429", "500", "redirect", "nonsense", "broken"] as const;
export const farewells = ["error", "auth_revoked"] as const;
export type Manner = (typeof refusals)[number] | (typeof farewells)[number];

/** An ecosystem that repeats the token in every answer; `speak` chooses how it answers. */
export async function echoingEcosystem(test: TestContext) {
  const state = { manner: "401" as Manner };
  const server = createServer((request, response) => answer(state.manner, request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    speak(manner: Manner) {
      state.manner = manner;
    },
  };
}

function answer(manner: Manner, { headers }: IncomingMessage, response: ServerResponse): void {
  const token = (headers.authorization ?? "").replace("Bearer ", "");
  const error = JSON.stringify({ error: token, type: token, message: `The token ${token} is bad`, instance: token });
  if (manner === "redirect") {
    response.writeHead(307, { location: `http://192.0.2.1:9/?auth=${token}` }).end(error);
  } else if (manner === "nonsense") {
    response.writeHead(200, { "content-type": "application/json" }).end(`{"${token}": ${token}`);
  } else if (manner === "broken") {
    response.socket?.end(`HTTP/1.1 ${token}\r\n${token}\r\n\r\n`);
  } else if (manner !== "error" && manner !== "auth_revoked") {
    response.writeHead(Number(manner), { "retry-after": token, "x-token": token }).end(error);
  } else if (headers.accept?.includes("text/event-stream")) {
    const put = JSON.stringify({ path: "/", data: document(token) });
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`event: put\ndata: ${put}\n\nevent: ${token}\ndata: ${token}\n\n`);
    response.end(`event: ${manner}\ndata: ${manner === "error" ? error : token}\n\n`);
  } else {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(document(token)));
  }
}

/** The token appears wherever nothing is mirrored: ids and names would rightly be stored. */
function document(token: string) {
  const thermostat = {
    device_id: "t-1",
    structure_id: "s-1",
    name: "Hall",
    where_id: token,
    has_fan: { [token]: token },
  };
  return {
    metadata: { access_token: token, client_version: 1, user_id: token },
    devices: { thermostats: { "t-1": thermostat }, $company: token, [token]: { [token]: {} } },
    structures: { "s-1": { structure_id: "s-1", name: "House", away: "home", thermostats: ["t-1"], [token]: token } },
    [token]: token,
  };
}
