/** Something that stands between the load and the far end. */
export interface Target {
  readonly name: string
  /** Throws with a sentence when this machine cannot run it. */
  start(place: Place): Promise<Running>
}

export interface Place {
  /** The far end, `http://127.0.0.1:…/v1`. */
  readonly upstreamUrl: string
  /** An empty folder of its own. */
  readonly folder: string
  /** The node that runs peers; our own gateway always runs on the one that runs the benchmark. */
  readonly peerNode: string
}

export interface Running {
  /** The base address, with `/v1`. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The processes whose CPU time and memory count. */
  readonly pids: readonly number[]
}
