import { connect } from "node:net";
import { closed } from "../../set-up/closed-socket.ts";
import type { Answered } from "../oauth-world.ts";

/** Sends these raw header lines and this body, and reads the answer. */
export async function rawRequest(baseUrl: string, lines: readonly string[], body = ""): Promise<Answered> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  socket.setEncoding("utf8");
  let answer = "";
  socket.on("data", (piece) => {
    answer += piece;
  });
  socket.write(`${[...lines, "Connection: close"].join("\r\n")}\r\n\r\n${body}`);
  await closed(socket);
  return read(answer);
}

function read(answer: string): Answered {
  const end = answer.indexOf("\r\n\r\n");
  const [statusLine = "", ...lines] = answer.slice(0, end).split("\r\n");
  const headers = new Headers(lines.map((line) => line.split(/:\s*(.*)/s).slice(0, 2) as [string, string]));
  const text = answer.slice(end + 4);
  const isJson = (headers.get("content-type") ?? "").startsWith("application/json");
  return { status: Number(statusLine.split(" ")[1]), headers, body: isJson ? JSON.parse(text) : text };
}
