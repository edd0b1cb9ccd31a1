import type { FeedReceiver } from "../../../src/ecosystems/feed.ts";
import { plant, replace } from "./plant.ts";

const google = {
  subscription: () => import("../../../src/ecosystems/google-device-access/subscription.ts"),
  device: () => import("../../../src/ecosystems/google-device-access/device-state.ts"),
  account: () => import("../../../src/ecosystems/google-device-access/account-state.ts"),
};

export const otherEcosystemPlants = [
  plant(
    "acknowledged-before-stored",
    "a message of the feed is acknowledged while it is being stored",
    replace(google.subscription, {
      Subscription: (original) =>
        class extends original {
          override pull(receiver: FeedReceiver, signal: AbortSignal) {
            const store = async (messages: Parameters<FeedReceiver["store"]>[0]) => {
              receiver.store(messages).catch(() => undefined);
            };
            return super.pull({ ...receiver, store }, signal);
          }
        },
    }),
  ),
  plant(
    "older-event-applied",
    "an event that comes late replaces what a newer one has said",
    replace(google.device, {
      DeviceState: (original) =>
        class extends original {
          #applied = 2 ** 50;

          override apply(...[name, update, , arrival]: Parameters<InstanceType<typeof original>["apply"]>) {
            this.#applied += 1;
            return super.apply(name, update, this.#applied, arrival);
          }
        },
    }),
  ),
  plant(
    "list-before-events",
    "a list replaces what events have said that came after its request",
    replace(google.device, {
      DeviceState: (original) =>
        class extends original {
          override list(...[device, list]: Parameters<InstanceType<typeof original>["list"]>) {
            return super.list(device, { ...list, fromMs: list.toMs + 60_000 }, Number.POSITIVE_INFINITY);
          }
        },
    }),
  ),
  plant(
    "unknown-device-ignored",
    "an event that only a list can explain leads to none",
    replace(google.account, {
      AccountState: (original) =>
        class extends original {
          override apply(event: Parameters<InstanceType<typeof original>["apply"]>[0]) {
            super.apply(event);
            return "none" as const;
          }
        },
    }),
  ),
  plant(
    "message-removed-unread",
    "messages of the feed are removed although the home was not stored",
    replace(() => import("../../../src/ecosystems/google-device-access/followed-account.ts"), {
      FollowedAccount: (original) =>
        class extends original {
          override async handle(contents: Parameters<InstanceType<typeof original>["handle"]>[0]) {
            // Every other delivery is not even looked at.
            if (contents.length % 2 === 1) return true;
            return super.handle(contents);
          }
        },
    }),
  ),
  plant(
    "unavailable-entity-fresh",
    "an entity that is not available is shown with its last values as available",
    replace(() => import("../../../src/ecosystems/home-assistant/entity-states.ts"), {
      EntityStates: (original) =>
        class extends original {
          override view(entityId: string) {
            const view = super.view(entityId);
            return { ...view, isFresh: view.lastState !== undefined };
          }
        },
    }),
  ),
  plant(
    "registry-change-missed",
    "a changed registry is not read again",
    replace(() => import("../../../src/ecosystems/home-assistant/instance-home.ts"), {
      InstanceHome: (original) =>
        class extends original {
          #listed: readonly string[] | undefined;

          override load(...given: Parameters<InstanceType<typeof original>["load"]>) {
            this.#listed ??= super.load(...given);
            return this.#listed;
          }
        },
    }),
  ),
];
