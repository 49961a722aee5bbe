import { newId } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import type { CallContent } from '../content/recording.ts'
import type { SinkMoved, TelemetryEvent } from '../events.ts'
import { attemptDelivery } from './lanes/attempt.ts'
import { type Tally, tally } from './lanes/tally.ts'
import type { Delivered, Sink, SinkEvent, SinkLane, SinkState } from './sink.ts'
import { testEvent } from './test-event.ts'

/** All sinks, as the stream of events and the administration see them. */
export interface Sinks {
  readonly byName: ReadonlyMap<string, { readonly sink: Sink; readonly counts: Tally }>
  /** As in Sink, where any has it. */
  readonly traceparent: Sink['traceparent']
  /** Some sink takes the content of calls, and has room for it now. */
  takeContent(): boolean
  /** Some sink takes these events. */
  listenTo(type: SinkEvent['type']): boolean
  /** Hands an event to the sinks that want it. Never waits, never throws. */
  take(event: TelemetryEvent, content?: CallContent): void
  states(): SinkState[]
  /** Sends one event of a test to a sink, past its lane. Rejects with a SinkFailure; undefined if there is no such
   *  sink. */
  test(name: string): Promise<Delivered> | undefined
  /** Sends what waits, for `limitMs` at most. Resolves with the number of dropped entries. */
  drain(limitMs: number): Promise<number>
}

export function sinksOf(
  sinks: readonly Sink[],
  options: {
    readonly laneOf: (sink: Sink, counts: Tally) => SinkLane
    readonly log: Log
    /** Called with the counts of entries. */
    readonly report: (event: SinkMoved) => void
  },
): Sinks {
  const lanes = sinks.map((sink) => {
    const counts = tally(sink.name, options)
    return { sink, counts, lane: options.laneOf(sink, counts) }
  })
  const takers = lanes.filter(({ sink }) => sink.takesContent)
  const byName = new Map(lanes.map((one) => [one.sink.name, one]))
  return {
    byName,
    traceparent: sinks.find((sink) => sink.traceparent)?.traceparent,
    takeContent: () => takers.some(({ lane }) => lane.hasRoom()),
    listenTo: (type) => sinks.some(({ takes }) => takes.has(type)),
    take(event, content) {
      // The batch repeats the item, and sinks get the call of the last try.
      if (event.type === 'call.finished' && event.repeats) return
      for (const { sink, lane } of lanes) {
        if (!isTaken(sink, event)) continue
        const id = idOf(event)
        lane.take(sink.takesContent && content ? { id, event, content } : { id, event })
      }
    },
    states: () => lanes.map(({ lane, counts }) => counts.state(lane.depth())),
    test(name) {
      const found = byName.get(name)
      return (
        found && attemptDelivery(found.sink, [{ id: newId('test'), event: testEvent(found.sink.takes, Date.now()) }])
      )
    },
    async drain(limitMs) {
      const lost = await Promise.all(lanes.map(({ lane }) => lane.drain(limitMs)))
      return lost.reduce((sum, one) => sum + one, 0)
    },
  }
}

function isTaken({ takes, leavesOut }: Sink, event: TelemetryEvent): event is SinkEvent {
  if (!(takes as ReadonlySet<string>).has(event.type)) return false
  return event.type !== 'call.finished' || leavesOut?.(event) !== true
}

function idOf(event: SinkEvent): string {
  return event.type === 'call.finished' ? event.callId : newId('event')
}
