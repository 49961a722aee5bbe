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
  /** Upper bounds, ascending, for a histogram. */
  readonly buckets?: readonly number[]
  of(event: TelemetryEvent): readonly Sample[]
}

export const NOTHING: readonly Sample[] = []
