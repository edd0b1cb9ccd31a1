import type { Attack, Target } from "../attack.ts";
import { type HostileCloud, hostileCloud } from "../hostile-cloud.ts";
import { hostileAnswers, type RawAnswer, shownFate } from "../raw-answers.ts";
import { type Answer, sendRequest } from "../requests.ts";
import type { Note } from "../sightings.ts";
import { Tallied } from "../tally.ts";

const answerMs = 12_000;
const forMs = 60_000;
const metadataPath = "/openid/.well-known/openid-configuration";

/** Answers of the OpenID provider: its metadata, tokens, keys, and what it says of a person. Anybody may begin a sign-in. */
export const openIdAnswers: Attack = {
  name: "answers of an OpenID provider",
  async run(target, note) {
    const got = new Tallied();
    const cloud = await hostileCloud();
    const untilMs = performance.now() + forMs;
    const play = async (message: string, path: string, answer: RawAnswer, act: () => Promise<Answer>) => {
      if (performance.now() > untilMs) return;
      await playAnswer({ cloud, path, answer, note, message, act });
      got.add(message);
    };
    const begin = () => sendRequest(target.url, { path: "/console/openid" });
    const metadata = JSON.stringify(cloud.openIdMetadata);
    // Usable metadata are read once: they come last.
    for (const answer of hostileAnswers(`${metadata.slice(0, -1)},"claims_supported":@}`)
      .slice(1)
      .reverse()) {
      await play("metadata of a provider", metadataPath, answer, begin);
    }
    for (const answer of hostileAnswers('{"access_token":"a","token_type":"Bearer","x":@}')) {
      await play("tokens of a provider", "/openid/token", answer, () => comeBack(target, cloud));
    }
    for (const answer of hostileAnswers('{"sub":"mallory","groups":@}')) {
      await play("what a provider says of a person", "/openid/userinfo", answer, () => comeBack(target, cloud));
    }
    return got.tally;
  },
};

interface Played {
  readonly cloud: HostileCloud;
  readonly path: string;
  readonly answer: RawAnswer;
  readonly note: Note;
  readonly message: string;
  readonly act: () => Promise<Answer>;
}

async function playAnswer({ cloud, path, answer, note, message, act }: Played): Promise<void> {
  const fate = cloud.answerOnce(path, answer, answerMs);
  const said = await act().then(shownPage, (error: Error) => `no answer (${error.message})`);
  // When the service has answered, it asks no more. The fate of an answer that it gave up comes later.
  const late = setTimeout(() => cloud.forget(path), 500);
  const wire = await fate;
  clearTimeout(late);
  const shown = `${wire ? shownFate(wire) : "not asked for"}: ${said}`;
  note({ message, size: answer.size, isTaken: /^(200|303)/.test(said), fate: shown });
}

/** The browser comes back from the provider with a code that it invented. */
async function comeBack({ url }: Target, cloud: HostileCloud): Promise<Answer> {
  const begun = await sendRequest(url, { path: "/console/openid" });
  const { searchParams } = new URL(begun.location ?? "http://none.example");
  const state = searchParams.get("state") ?? "";
  const issuedAt = Math.floor(Date.now() / 1_000);
  const claims = { iss: `${cloud.url}/openid`, sub: "mallory", aud: "breezeway", iat: issuedAt, exp: issuedAt + 600 };
  const parts = [{ alg: "RS256" }, { ...claims, nonce: searchParams.get("nonce") }];
  const [head, payload] = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"));
  cloud.idToken = `${head}.${payload}.${Buffer.from("none").toString("base64url")}`;
  const cookie = (begun.cookies ?? []).map((line) => line.split(";")[0]).join("; ");
  return sendRequest(url, { path: `/console/openid/callback?code=any&state=${state}`, headers: { cookie } });
}

function shownPage({ status, text, location }: Answer): string {
  if (location !== undefined) return `${status} to the provider`;
  const [, title = ""] = /<h1>([^<]*)/.exec(text) ?? [];
  const [, lead = ""] = /class="lead"[^>]*>([^<]*)/.exec(text) ?? [];
  return `${status} ${title} ${lead}`.trim();
}
