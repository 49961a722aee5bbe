import type { StartTimes } from '../start-times.ts'

/** Something that stands between the load and the far end. */
export interface Target {
  readonly name: string
  /** A gateway of ours: what it leaves behind is a fault of the run. */
  readonly ours?: true
  /** Left out of a quick run, unless it is asked for. */
  readonly onlyInFull?: true
  /** Left out unless it is asked for. */
  readonly onlyByName?: true
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
  /** Whether processes of ours let their JavaScript be profiled. */
  readonly inspected?: boolean
  /** The `gateway_settings` of ours. */
  readonly gatewaySettings?: object
}

export interface Running {
  /** The base address, with `/v1`. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The processes whose CPU time and memory count. */
  readonly pids: readonly number[]
  readonly inspectorPort?: number | undefined
  /** Where it tells of itself. */
  readonly metricsUrl?: string
  /** How long its like takes to start. */
  startTimes?(): Promise<StartTimes>
  /** Ends what the benchmark has not started itself. */
  stop?(): Promise<void>
}
