import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

export const newKeys = () => generateKeyPairSync("rsa", { modulusLength: 2_048 });

/** The header of an ID token, and what signs its text. */
export interface Signing {
  readonly header: object;
  readonly sign: (text: string) => string;
}

export const rs256 = (kid: string, key: KeyObject): Signing => ({
  header: { alg: "RS256", kid },
  sign: (text) => sign("sha256", Buffer.from(text), key).toString("base64url"),
});

export const hs256 = (secret: string | Buffer): Signing => ({
  header: { alg: "HS256", kid: "one" },
  sign: (text) => createHmac("sha256", secret).update(text).digest("base64url"),
});

/** A provider whose ID tokens have the signatures that the test chooses, also those that its metadata allows wrongly. */
export async function startSigningProvider(t: TestContext) {
  const keys = newKeys();
  let published = { kid: "one", key: keys.publicKey };
  let [reads, idToken] = [0, ""];
  const server = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    const answers: Readonly<Record<string, () => object>> = {
      "/.well-known/openid-configuration": () => ({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        id_token_signing_alg_values_supported: ["RS256", "HS256", "none"],
      }),
      "/keys": () => {
        reads++;
        return { keys: [{ ...published.key.export({ format: "jwk" }), kid: published.kid, use: "sig" }] };
      },
      "/token": () => ({ access_token: "access", token_type: "bearer", id_token: idToken }),
    };
    response.end(JSON.stringify(answers[request.url!]!()));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  return {
    issuer,
    keys,
    reads: () => reads,
    publish: (kid: string, key: KeyObject) => {
      published = { kid, key };
    },
    /** The next exchange of a code answers an ID token with these claims and this signature. */
    issue(claims: object, { header, sign }: Signing) {
      const iat = Math.floor(Date.now() / 1_000);
      const text = `${encode(header)}.${encode({ iss: issuer, iat, exp: iat + 60, ...claims })}`;
      idToken = `${text}.${sign(text)}`;
    },
  };
}
