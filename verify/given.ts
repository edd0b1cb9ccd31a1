/** All that verify was given, or made for itself. */
export interface Given {
  /** {base_url} of the deployment. */
  readonly url: string;
  readonly client: GivenClient | undefined;
  readonly person: { readonly name: string; readonly password: string } | undefined;
  /** Somebody opens the login page in a browser of their own. */
  readonly signsInByHand: boolean;
  readonly appId: string | undefined;
  /** An ordinary device that may be written to. */
  readonly deviceId: number | undefined;
  /** A device that belongs to somebody else. */
  readonly foreignDeviceId: number | undefined;
  readonly simulator:
    | { readonly url: string /** Nobody said that it is this deployment's. */; readonly isAssumed: boolean }
    | undefined;
  readonly ecosystem: string;
  readonly isPatient: boolean;
}

export interface GivenClient {
  readonly id: string;
  readonly secret: string;
  /** One of its registered addresses. */
  readonly redirectUri: string;
}
