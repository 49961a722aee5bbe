import { Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { jsonLog } from '../../../../src/lib/log.ts'
import { lineWriter } from '../../../../src/runtimes/node/process/line-writer.node.ts'

/** Standard output whose reader takes nothing until it is told to go on. */
function stuckOutput() {
  const texts: string[] = []
  let goOn: (() => void) | undefined
  let isStuck = true
  const output = new Writable({
    write(text: Buffer, _encoding, done) {
      texts.push(text.toString())
      if (isStuck) goOn = done
      else done()
    },
  })
  return {
    output,
    lines: () => texts.join('').split('\n').slice(0, -1),
    release() {
      isStuck = false
      goOn?.()
    },
  }
}

it('keeps so much for a reader that stands still, and says how many lines it left out', async () => {
  const { output, lines, release } = stuckOutput()
  const writer = lineWriter(output, 1_000_000)
  const line = (number: number) => JSON.stringify({ number, text: 'x'.repeat(1000) })
  for (let number = 0; number < 5000; number++) writer.write(line(number))
  writer.flush()
  expect(output.writableLength).toBeLessThan(1_100_000)
  release()
  await expect.poll(() => output.writableLength).toBe(0)
  writer.write(line(5000))
  writer.flush()
  await expect.poll(() => lines().at(-1)).toBe(line(5000))
  const read = lines().map((one) => JSON.parse(one))
  const dropped = read.at(-2)
  expect(dropped).toMatchObject({ level: 'error', event: 'log.dropped' })
  expect(read.slice(0, -2).map(({ number }) => number)).toEqual(Array.from({ length: read.length - 2 }, (_, at) => at))
  expect(dropped.lines).toBe(5000 - (read.length - 2))
})

it('writes lines that are printed as bytes, and texts, in their order', async () => {
  const { output, lines, release } = stuckOutput()
  release()
  const writer = lineWriter(output)
  const log = jsonLog('info', writer.write, () => 1_000, { pid: 7 }, writer)
  const printed = log.printed?.('info', 'one"event')
  expect(log.printed?.('debug', 'silent')).toBeUndefined()
  log.info('before', { text: 'Grüße' })
  const line = printed?.begin('1970-01-01T00:00:00.500Z')
  line?.addText(',"text":')
  line?.addString('a\n"ß"')
  printed?.end()
  log.warn('after')
  writer.flush()
  await expect
    .poll(lines)
    .toEqual([
      '{"time":"1970-01-01T00:00:01.000Z","level":"info","event":"before","pid":7,"text":"Grüße"}',
      '{"time":"1970-01-01T00:00:00.500Z","level":"info","event":"one\\"event","pid":7,"text":"a\\n\\"ß\\""}',
      '{"time":"1970-01-01T00:00:01.000Z","level":"warn","event":"after","pid":7}',
    ])
})
