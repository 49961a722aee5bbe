import type { TelemetryEvent } from '../events.ts'

export type Labels = Readonly<Record<string, string>>

type EventType = TelemetryEvent['type']

/** The events of some types. */
type EventOf<Type extends EventType, Event = TelemetryEvent> = Event extends { readonly type: infer Own }
  ? Extract<Own, Type> extends never
    ? never
    : Event
  : never

interface Described {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'histogram'
  /** The labels of the series that exist from the start, with 0: to Prometheus a series that begins with 5 has not grown. */
  readonly initial?: readonly Labels[]
  /** Its labels include those of calls, of which some are chosen. */
  readonly ofCalls?: true
  /** Its one label is the name of a sink, and each sink that runs has a series from the start. */
  readonly ofSinks?: true
  /** The number of counted parts in one unit, for exact sums of fractions. */
  readonly scale?: number
  /** The ascending upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[]
}

interface Fold<Event> {
  /** The value that a counter adds or a histogram observes; undefined if the metric ignores the event. */
  value(event: Event): number | undefined
  /** The labels of the value. Those of a call may only depend on what like calls have in common. */
  labels(event: Event): Labels
}

/** A metric is a fold over the events of some types: each event may add to it. */
export interface Metric extends Described, Fold<TelemetryEvent> {
  /** It is asked of no other events. */
  readonly events: readonly EventType[]
}

export function metricOf<Type extends EventType>(
  events: readonly Type[],
  metric: Described & Fold<EventOf<Type>>,
): Metric {
  return { events, ...metric }
}

const NONE: Labels = {}
export const unlabelled = () => NONE
