import type { TelemetryEvent } from '../events.ts'

export type Labels = Readonly<Record<string, string>>

export interface Sample {
  readonly labels: Labels
  /** How much a counter grows, or what a histogram observes. */
  readonly value: number
}

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
  of(event: TelemetryEvent): readonly Sample[]
}

export const NOTHING: readonly Sample[] = []
