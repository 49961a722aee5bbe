import type { TelemetryEvent } from '../events.ts'

export type Labels = Readonly<Record<string, string>>

/** A metric is a fold over the events: what each one adds to it. */
export interface Metric {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'histogram'
  /** A series that is there before anything was counted, at 0. */
  readonly initial?: Labels
  /** What is counted in so many parts of its unit, so that it adds up exactly. */
  readonly scale?: number
  /** Upper bounds, ascending, for a histogram. */
  readonly buckets?: readonly number[]
  /** What a counter grows by, or a histogram observes; undefined when the event is none of its. */
  value(event: TelemetryEvent): number | undefined
  /** Under which labels. Those of a call are made of what `callSeries` tells apart, and of nothing else. */
  labels(event: TelemetryEvent): Labels
}

const NONE: Labels = {}
export const unlabelled = () => NONE
