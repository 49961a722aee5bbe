import { PassThrough, Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { passLines } from '../../../../src/runtimes/node/process/passed-lines.node.ts'

it('passes the lines of several processes on whole, however they come, but no line of a killed one without its end', async () => {
  const written: string[] = []
  const output = new Writable({
    highWaterMark: 8,
    write(text: Buffer, _encoding, done) {
      written.push(text.toString())
      setTimeout(done, 1)
    },
  })
  const [one, other] = [new PassThrough(), new PassThrough()]
  const passing = Promise.all([passLines(one, output), passLines(other, output)])
  const turn = () => new Promise((resolve) => setTimeout(resolve, 3))
  const line = JSON.stringify({ text: 'Grüße' })
  const bytes = Buffer.from(`${line}\n${line}\n{"killed`)
  for (let at = 0; at < bytes.length; at += 5) {
    one.write(bytes.subarray(at, at + 5))
    other.write(bytes.subarray(at, at + 5))
    await turn()
  }
  one.end()
  other.end()
  await passing
  expect(written.join('')).toBe(`${line}\n`.repeat(4))
})
