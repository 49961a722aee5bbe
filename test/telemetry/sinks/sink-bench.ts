import { jsonLog } from '../../../src/lib/log.ts'
import type { SinkMoved } from '../../../src/telemetry/events.ts'
import { tally } from '../../../src/telemetry/sinks/lanes/tally.ts'
import { CALLS_ALONE, type Delivered, type Sink, type SinkEntry } from '../../../src/telemetry/sinks/sink.ts'
import { finishedCall } from '../../support/finished-calls.ts'

/** A sink whose far end is a function of the test, and what was told of it. */
export function sinkBench(gathering: Sink['gathering'] = { entries: 100, bytes: 1_000_000, ms: 1000 }) {
  const batches: string[][] = []
  const lines: Record<string, unknown>[] = []
  const moved: SinkMoved[] = []
  const far = {
    answer: async (_entries: readonly SinkEntry[]): Promise<Partial<Delivered>> => ({}),
  }
  const sink: Sink = {
    name: 'far',
    gathering,
    takesContent: true,
    takes: CALLS_ALONE,
    async deliver(entries) {
      batches.push(entries.map(({ id }) => id))
      return { answer: 'it answered 200', ...(await far.answer(entries)) }
    },
  }
  const log = jsonLog('debug', (line) => void lines.push(JSON.parse(line)))
  const counts = tally(sink.name, { log, report: (event) => void moved.push(event) })
  return {
    sink,
    far,
    log,
    counts,
    batches,
    lines,
    told(type: SinkMoved['type']) {
      // What was dropped within the last second is told with it.
      counts.state(0)
      return moved.filter((event) => event.type === type).reduce((sum, { entries }) => sum + entries, 0)
    },
  }
}

export const entry = (id: string): SinkEntry => ({ id, event: finishedCall({ callId: id }) })
export const entries = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => entry(`${from + index}`))
