import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { BlockList } from "node:net";
import { dirname, join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { settings } from "../../src/config/config.ts";
import { folderOf } from "../cli/made-folder.ts";
import { freePort } from "../set-up/free-port.ts";
import { eventually } from "../stories/world.ts";
import { readYaml, type Yaml } from "./read-yaml.ts";

const root = new URL("../..", import.meta.url).pathname;
const deployed = (name: string) => readFileSync(join(root, "deploy", name), "utf8");
/** What a stop may take after the drain: a moment for connections that were just made, requests, and fan requests. */
const longestFinishSeconds = 10;
/** The account in the container. */
const account = 10_001;

// biome-ignore lint/suspicious/noExplicitAny: documents from files; what they hold is what the tests look at
type Document = any;
const [compose] = readYaml(deployed("compose/compose.yaml")) as [Document];
const kubernetes = readYaml(deployed("kubernetes/breezeway.yaml")) as readonly Document[];
const ofKind = (kind: string) => kubernetes.find((one) => one.kind === kind);
const variables = new Set(
  Object.values(settings).flatMap(({ variable, isSecret }) => (isSecret ? [`${variable}_FILE`] : [variable])),
);

describe("YAML as we write it", () => {
  it("is read as everybody reads it", (t) => {
    const names = [
      "compose/compose.yaml",
      "kubernetes/breezeway.yaml",
      "kubernetes/monitoring.yaml",
      "prometheus/prometheus.yml",
      "prometheus/rules.yml",
    ];
    const script =
      "import json, sys, yaml\nprint(json.dumps([list(yaml.safe_load_all(open(name))) for name in sys.argv[1:]]))";
    const files = names.map((name) => join(root, "deploy", name));
    const other = spawnSync("python3", ["-c", script, ...files], { encoding: "utf8" });
    if (other.status !== 0) return t.diagnostic("no other reader of YAML here");
    assert.deepEqual(
      names.map((name) => readYaml(deployed(name))),
      JSON.parse(other.stdout),
    );
  });

  it("has nothing that two readers could take differently", () => {
    const read = (text: string) => readYaml(text)[0];
    assert.deepEqual(read('a:\n  - b: 1\n    c: ["x"]\n  - d # why\ne: {}'), {
      a: [{ b: 1, c: ["x"] }, "d"],
      e: {},
    } satisfies Yaml);
    for (const text of [
      "a: 0400",
      "a: yes",
      "a: &b c",
      "a: 1\na: 2",
      "a:\n\tb: 1",
      "a: |\n  b",
      "a:\n    b: 1\n  c: 2",
    ]) {
      assert.throws(() => read(text), text);
    }
  });
});

describe("the container", () => {
  const lines = deployed("Dockerfile")
    .replaceAll("\\\n", " ")
    .split("\n")
    .filter((line) => /^[A-Z]+ /.test(line));
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith("FROM ")));
  const word = (name: string) =>
    last.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));

  it("runs the service itself, as nobody in particular, with a health check", () => {
    assert.deepEqual(word("USER"), [`${account}:${account}`]);
    assert.deepEqual(word("ENTRYPOINT"), ['["breezeway"]']);
    assert.deepEqual(word("CMD"), ['["serve"]']);
    assert.match(word("HEALTHCHECK")[0]!, /CMD \["breezeway", "--ready"\]$/);
    for (const line of lines.filter((one) => one.startsWith("FROM "))) assert.match(line, /^FROM [\w/]+:(?!latest)\S+/);
    // What is set for all is known, and is no secret.
    const set = word("ENV").flatMap((line) => line.split(" ").map((one) => one.split("=")[0]!));
    assert.deepEqual(
      set.filter((name) => !variables.has(name)),
      [],
    );
  });

  it("is tagged with this version wherever it is named", () => {
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    for (const path of ["Dockerfile", "compose/compose.yaml", "kubernetes/breezeway.yaml", "../docs/operations.md"]) {
      const tags = deployed(path).match(/(?<=breezeway:)\d+\.\d+\.\d+/g) ?? [];
      assert.deepEqual([path, ...new Set(tags)], [path, version]);
    }
  });

  it("copies only paths that exist and that .dockerignore does not exclude", () => {
    const allowed = deployed("Dockerfile.dockerignore")
      .split("\n")
      .flatMap((line) => (line.startsWith("!") ? [line.slice(1)] : []));
    const copied = lines
      .filter((line) => line.startsWith("COPY ") && !line.includes("--from="))
      .flatMap((line) => line.split(" ").slice(1, -1));
    for (const path of copied) {
      assert.ok(existsSync(join(root, path)), path);
      assert.ok(
        allowed.some((one) => path === one || path.startsWith(`${one}/`)),
        `${path} is ignored`,
      );
    }
  });

  it("starts, is ready, drains and ends well, on what is copied into it alone", { timeout: 120_000 }, async (t) => {
    const { run, port } = await madeContainer(t, last);
    const ready = async () => (await once(run(["--ready"]), "exit"))[0];
    assert.equal(await ready(), 1);
    const service = run(["serve"]);
    t.after(() => service.kill("SIGKILL"));
    const ended = once(service, "exit");
    await eventually(t.signal, async () => assert.equal(await ready(), 0));
    assert.equal((await fetch(`http://127.0.0.1:${port}/livez`)).status, 200);
    service.kill("SIGTERM");
    assert.deepEqual(await ended, [0, null]);
  });
});

/** The last stage of the image as folders of this machine, in which nothing but the data belongs to who runs it. */
async function madeContainer(t: TestContext, stage: readonly string[]) {
  const folder = folderOf(t);
  chmodSync(folder, 0o755);
  const inside = join(folder, "opt/breezeway");
  mkdirSync(inside, { recursive: true });
  for (const line of stage.filter((one) => one.startsWith("COPY ") && !one.includes("--from="))) {
    const paths = line.split(" ").slice(1);
    const to = paths.pop()!;
    for (const path of paths) {
      const place = to.startsWith("/") ? join(folder, to) : join(inside, path);
      mkdirSync(dirname(place), { recursive: true });
      cpSync(join(root, path), place, { recursive: true });
    }
  }
  // As `npm ci --omit=dev` would leave them.
  const locked = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages as Document;
  for (const [path, { dev, link }] of Object.entries<Document>(locked)) {
    if (!path.startsWith("node_modules/") || dev || link || !existsSync(join(root, path))) continue;
    mkdirSync(dirname(join(inside, path)), { recursive: true });
    // Hard links where that works: Node alone has more than 100 MB.
    const copied = spawnSync("cp", ["-rl", join(root, path), join(inside, path)]);
    if (copied.status === 0) continue;
    rmSync(join(inside, path), { recursive: true, force: true });
    cpSync(join(root, path), join(inside, path), { recursive: true });
  }
  const command = join(folder, "usr/local/bin/breezeway");
  writeFileSync(command, readFileSync(command, "utf8").replaceAll("/opt/breezeway", inside));
  const [data, secrets] = [join(folder, "data"), join(folder, "secrets")];
  for (const one of [data, secrets]) mkdirSync(one);
  const keyFile = join(secrets, "breezeway.key");
  writeFileSync(keyFile, `${Buffer.alloc(32, 1).toString("base64url")}\n`);
  const isRoot = process.getuid?.() === 0;
  // As a cluster hands out a secret: root's, for the group to read.
  chmodSync(keyFile, isRoot ? 0o440 : 0o400);
  if (isRoot) chownSync(keyFile, 0, account);
  if (isRoot) chownSync(data, account, account);
  const port = await freePort();
  const environment = {
    PATH: `${dirname(command)}:${process.env.PATH}`,
    BREEZEWAY_DATA: data,
    BREEZEWAY_KEY_FILE: keyFile,
    BREEZEWAY_PORT: String(port),
    BREEZEWAY_LOG_LEVEL: "silent",
  };
  const who = isRoot ? { uid: account, gid: account } : {};
  const run = (args: readonly string[]): ChildProcess =>
    spawn("breezeway", args, { cwd: inside, env: environment, stdio: "ignore", ...who });
  return { run, port };
}

function isInRange(range: string, address: string): boolean {
  const [first, bits] = range.split("/") as [string, string];
  const list = new BlockList();
  list.addSubnet(first, Number(bits));
  return list.check(address);
}

describe("three nodes by compose", () => {
  const { services, secrets, networks } = compose;
  const nodes = Object.keys(services).filter((name) => name.startsWith("node-"));

  it("are alike, closed, and set by what is known", () => {
    assert.equal(nodes.length, 3);
    const [first, ...others] = nodes;
    for (const other of others) assert.deepEqual(services[other], { extends: { service: first }, hostname: other });
    const node = services[first!];
    assert.deepEqual([node.read_only, node.cap_drop], [true, ["ALL"]]);
    assert.deepEqual(
      Object.keys(node.environment).filter((name) => !variables.has(name)),
      [],
    );
    for (const value of Object.values<string>(node.environment)) {
      if (value.startsWith("/run/secrets/"))
        assert.ok(node.secrets.includes(value.slice("/run/secrets/".length)), value);
    }
    assert.ok(existsSync(join(root, "deploy/compose", node.build.context, node.build.dockerfile)));
    for (const { secrets: used = [] } of Object.values<Document>(services)) {
      for (const name of used) assert.ok(secrets[name], name);
    }
    const drainSeconds = settings.drainSeconds.read(node.environment.BREEZEWAY_DRAIN_SECONDS);
    assert.ok(Number.parseInt(node.stop_grace_period, 10) >= drainSeconds + longestFinishSeconds);
  });

  it("are behind a proxy that lists each of them and that they trust", () => {
    const { proxy } = services;
    const configuration = deployed("compose/nginx.conf");
    const known = [...configuration.matchAll(/^ {4}server (\S+):8080 max_fails=1 fail_timeout=(\d+)s;$/gm)];
    const spare = [...configuration.matchAll(/^ {4}server (\S+):8080 max_fails=0 backup;$/gm)];
    for (const listed of [known, spare]) {
      assert.deepEqual(
        listed.map(([, name]) => name),
        nodes,
      );
    }
    // nginx uses a replaced node again before the next one closes its port, and no node closes a connection in use.
    const drainSeconds = settings.drainSeconds.read(undefined);
    for (const [, , seconds] of known) assert.ok(Number(seconds) < drainSeconds);
    assert.ok(Number(/keepalive_timeout (\d+)s;/.exec(configuration)![1]) < drainSeconds);
    assert.match(configuration, /^ {8}proxy_set_header X-Repeats-Reads true;$/m);
    assert.deepEqual(Object.keys(proxy.depends_on), nodes);
    const address = proxy.networks.inside.ipv4_address as string;
    assert.equal(services["node-1"].environment.BREEZEWAY_TRUSTED_PROXIES, address);
    const [{ subnet, ip_range }] = networks.inside.ipam.config;
    assert.ok(isInRange(subnet, address));
    assert.ok(!isInRange(ip_range, address), "Docker could give this address to another container");
    // In all else it is the sample that test/deploy/proxies.test.ts runs.
    const rest = (text: string) =>
      text
        .slice(text.indexOf("# Addresses"))
        .replace(/^upstream [^}]+}\n/m, "")
        .replace(/^ +#.*\n +proxy_set_header X-Repeats-Reads true;\n/m, "");
    assert.equal(rest(configuration), rest(deployed("proxy/nginx.conf")));
  });

  it("are each collected from by a Prometheus that has their token", () => {
    const { prometheus } = services;
    const [{ scrape_configs, rule_files }] = readYaml(deployed("prometheus/prometheus.yml")) as [Document];
    const [{ authorization, static_configs }] = scrape_configs;
    assert.deepEqual(
      static_configs[0].targets,
      nodes.map((name) => `${name}:8080`),
    );
    const token = services["node-1"].environment.BREEZEWAY_METRICS_TOKEN_FILE;
    assert.equal(authorization.credentials_file, token);
    assert.ok(prometheus.secrets.includes(token.slice("/run/secrets/".length)));
    // The configuration lies where the image looks for it, with the rules beside it.
    const [from, to] = prometheus.volumes[0].split(":");
    assert.equal(to, "/etc/prometheus");
    for (const name of ["prometheus.yml", ...rule_files]) {
      assert.ok(existsSync(join(root, "deploy/compose", from, name)), name);
    }
    assert.deepEqual(prometheus.networks, ["inside"]);
    assert.match(prometheus.ports[0], /^127\.0\.0\.1:/);
  });

  it("are what compose itself understands, where it is installed", (t) => {
    const file = join(root, "deploy/compose/compose.yaml");
    if (spawnSync("docker", ["compose", "version"]).status !== 0) return t.diagnostic("no compose here");
    const { status, stderr } = spawnSync("docker", ["compose", "--file", file, "config", "--quiet"], {
      encoding: "utf8",
    });
    assert.equal(status, 0, stderr);
  });
});

describe("three nodes by Kubernetes", () => {
  const { spec } = ofKind("Deployment");
  const pod = spec.template.spec;
  const [container] = pod.containers;

  it("are found by their labels, and never all disturbed at once", () => {
    const labels = spec.template.metadata.labels;
    assert.deepEqual(spec.selector.matchLabels, labels);
    assert.deepEqual(ofKind("Service").spec.selector, labels);
    const { minAvailable, selector } = ofKind("PodDisruptionBudget").spec;
    assert.deepEqual(selector.matchLabels, labels);
    assert.ok(minAvailable >= 1 && minAvailable < spec.replicas);
    assert.equal(ofKind("Service").spec.ports[0].targetPort, container.ports[0].name);
  });

  it("have liveness and readiness probes, and time to drain", () => {
    const { livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
    const drainSeconds = settings.drainSeconds.read(ofKind("ConfigMap").data.BREEZEWAY_DRAIN_SECONDS);
    const paths = [startupProbe, livenessProbe, readinessProbe].map((probe) => probe.httpGet.path);
    assert.deepEqual(paths, ["/livez", "/livez", "/readyz"]);
    // The drain is the service's own: links are handed over at its beginning, which a preStop would only delay.
    assert.equal(lifecycle, undefined);
    assert.ok(pod.terminationGracePeriodSeconds >= drainSeconds + longestFinishSeconds);
  });

  it("are replaced one by one, by one that is ready", () => {
    assert.deepEqual(spec.strategy, { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } });
    assert.ok(spec.minReadySeconds > 0);
  });

  it("may do nothing but what they need, and are set by what is known", () => {
    assert.deepEqual([pod.securityContext.runAsNonRoot, pod.securityContext.runAsUser], [true, account]);
    const { allowPrivilegeEscalation, readOnlyRootFilesystem, capabilities } = container.securityContext;
    assert.deepEqual([allowPrivilegeEscalation, readOnlyRootFilesystem, capabilities.drop], [false, true, ["ALL"]]);
    const set = [...Object.keys(ofKind("ConfigMap").data), ...container.env.map((one: Document) => one.name)];
    assert.deepEqual(
      set.filter((name) => !variables.has(name)),
      [],
    );
    const volumes = pod.volumes.map((one: Document) => one.name);
    assert.deepEqual(
      container.volumeMounts.map((one: Document) => one.name),
      volumes,
    );
  });

  it("are each collected from with the token in their secret, and have the alarms of the rules", () => {
    const [monitor, alarms] = readYaml(deployed("kubernetes/monitoring.yaml")) as [Document, Document];
    assert.deepEqual(monitor.spec.selector.matchLabels, ofKind("Service").metadata.labels);
    const [{ port, path, authorization }] = monitor.spec.endpoints;
    assert.deepEqual([port, path], [ofKind("Service").spec.ports[0].name, "/metrics"]);
    const { name, key } = authorization.credentials;
    const secrets = pod.volumes.find((one: Document) => one.name === "secrets");
    const mounted = container.volumeMounts.find((one: Document) => one.name === "secrets");
    assert.equal(name, secrets.secret.secretName);
    const token = container.env.find((one: Document) => one.name === "BREEZEWAY_METRICS_TOKEN_FILE").value;
    assert.equal(`${mounted.mountPath}/${key}`, token);
    assert.deepEqual([alarms.kind, alarms.spec], ["PrometheusRule", readYaml(deployed("prometheus/rules.yml"))[0]]);
  });

  it("are what kubectl can read, where it is installed", (t) => {
    const folder = folderOf(t);
    writeFileSync(join(folder, "breezeway.yaml"), deployed("kubernetes/breezeway.yaml"));
    writeFileSync(join(folder, "kustomization.yaml"), "resources:\n  - breezeway.yaml\n");
    const { status, stdout, stderr, error } = spawnSync("kubectl", ["kustomize", folder], { encoding: "utf8" });
    if (error) return t.diagnostic("no kubectl here");
    assert.equal(status, 0, stderr);
    for (const { kind } of kubernetes) assert.ok(stdout.includes(`kind: ${kind}`), kind);
  });
});
