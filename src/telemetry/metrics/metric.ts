import type { TelemetryEvent } from '../events.ts'

export type Labels = Readonly<Record<string, string>>

/** A metric is a fold over events: each event may add to it. */
export interface Metric {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'histogram'
  /** The labels of a series that exists from the start, with 0. */
  readonly initial?: Labels
  /** Its labels include those of calls, of which some are chosen. */
  readonly ofCalls?: true
  /** The number of counted parts in one unit, for exact sums of fractions. */
  readonly scale?: number
  /** The ascending upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[]
  /** The value that a counter adds or a histogram observes; undefined if the metric ignores the event. */
  value(event: TelemetryEvent): number | undefined
  /** The labels of the value. Those of a call may only depend on what `callSeries` reads. */
  labels(event: TelemetryEvent): Labels
}

const NONE: Labels = {}
export const unlabelled = () => NONE
