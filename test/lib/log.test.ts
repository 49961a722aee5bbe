import { expect, it } from 'vitest'
import { jsonLog } from '../../src/lib/log.ts'

it('writes one JSON line an event, what stands in every line before its own fields', () => {
  const lines: string[] = []
  const log = jsonLog(
    'info',
    (line) => lines.push(line),
    () => 1_000,
    { pid: 7 },
  )
  log.info('one"event', { text: 'a\n"b"', absent: undefined, nested: { list: [1, null] } })
  log.warn('bare')
  log.debug('silent', { text: 'x' })
  const head = '{"time":"1970-01-01T00:00:01.000Z","level"'
  expect(lines).toEqual([
    `${head}:"info","event":"one\\"event","pid":7,"text":"a\\n\\"b\\"","nested":{"list":[1,null]}}`,
    `${head}:"warn","event":"bare","pid":7}`,
  ])
  lines.length = 0
  jsonLog(
    'info',
    (line) => lines.push(line),
    () => 1_000,
  ).error('alone', {})
  expect(lines).toEqual([`${head}:"error","event":"alone"}`])
})
