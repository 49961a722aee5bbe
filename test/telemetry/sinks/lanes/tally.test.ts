import { expect, it } from 'vitest'
import { jsonLog } from '../../../../src/lib/log.ts'
import type { SinkMoved } from '../../../../src/telemetry/events.ts'
import { tally } from '../../../../src/telemetry/sinks/lanes/tally.ts'
import { testClock } from '../../../support/clock.ts'

it('logs once a minute what fails and what is lost, also where the clock is set back meanwhile', () => {
  const clock = testClock()
  const lines: Record<string, unknown>[] = []
  const reported: SinkMoved[] = []
  const log = jsonLog('debug', (line) => lines.push(JSON.parse(line)))
  const counts = tally('s3', { log, report: (event) => reported.push(event), now: clock.now })
  const fails = () => {
    counts.failed(5, 'it answered 503')
    counts.dropped(2, 'more events than the far end takes')
  }
  const logged = (event: string) => lines.filter((line) => line.event === event)
  fails()
  fails()
  clock.advance(59_000)
  fails()
  expect(logged('sink.failed')).toMatchObject([{ times: 1 }])
  expect(logged('sink.dropped')).toMatchObject([{ entries: 2 }])
  clock.advance(1000)
  fails()
  expect(logged('sink.failed')).toMatchObject([{ times: 1 }, { times: 3 }])
  clock.advance(-3_600_000)
  fails()
  expect(logged('sink.failed')).toMatchObject([{ times: 1 }, { times: 3 }, { times: 1 }])
  expect(logged('sink.dropped')).toMatchObject([{ entries: 2 }, { entries: 6 }, { entries: 2 }])
  const dropped = reported.filter(({ type }) => type === 'sink.dropped')
  expect(dropped.reduce((sum, { entries }) => sum + entries, 0)).toBe(10)
})
