import { expect, it } from 'vitest'
import { traceParent } from '../../../src/pipeline/request/trace.ts'
import { isSampled, spanIdOf, traceIdOf } from '../../../src/telemetry/sinks/otlp/trace-ids.ts'

const none = { traceId: undefined, sessionId: undefined, user: undefined }

const at = (share: number) => ({ share, isParentBased: true })

it('samples a share of all traces, and each of them always the same way', () => {
  const ids = Array.from({ length: 4000 }, (_, index) => `call_${index}`)
  const sampled = ids.filter((id) => isSampled(id, undefined, at(0.25)))
  expect(sampled.length).toBeGreaterThan(850)
  expect(sampled.length).toBeLessThan(1150)
  expect(sampled.every((id) => isSampled(id, undefined, at(0.25)) && isSampled(id, undefined, at(0.5)))).toBe(true)
  expect([isSampled('a', undefined, at(0)), isSampled('a', undefined, at(1))]).toEqual([false, true])
})

it('leaves the decision to the trace of a client, unless told otherwise', () => {
  const parent = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', sampled: true }
  const decided = (sampled: boolean) => ({ ...none, parent: { ...parent, sampled } })
  expect([isSampled('a', decided(true), at(0)), isSampled('a', decided(false), at(1))]).toEqual([true, false])
  const alone = (share: number) => ({ share, isParentBased: false })
  expect([isSampled('a', decided(true), alone(0)), isSampled('a', decided(false), alone(1))]).toEqual([false, true])
  // The trace's last bits are 0.57… of all: sampled where more than 0.43 are.
  const traced = { ...none, traceId: parent.traceId.replace(/.{13}$/, '92fffffffffff') }
  expect([isSampled('a', traced, alone(0.42)), isSampled('a', traced, alone(0.43))]).toEqual([false, true])
})

it('makes ids that are valid, differ, and are those of the client where it has some', () => {
  const own = traceIdOf('call_1', undefined)
  expect(own).toMatch(/^[0-9a-f]{32}$/)
  expect(traceIdOf('call_2', undefined)).not.toBe(own)
  expect(traceIdOf('call_1', { ...none, traceId: '4BF92F35-77b3-4da6-a3ce-929d0e0e4736' })).toBe(
    '4bf92f3577b34da6a3ce929d0e0e4736',
  )
  expect(traceIdOf('call_1', { ...none, traceId: 'my trace' })).toBe(own)
  expect(new Set(['call', '0', '1', 'tool 0'].map((part) => spanIdOf('call_1', part))).size).toBe(4)
})

it.each([
  ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', true],
  ['01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00-more', false],
  ['ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', undefined],
  ['00-00000000000000000000000000000000-00f067aa0ba902b7-01', undefined],
  ['00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01', undefined],
  ['00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01', undefined],
  ['00-4bf92f3577b34da6a3ce929d0e0e4736', undefined],
  [undefined, undefined],
])('reads %j as a span that is sampled: %j', (header, sampled) => {
  expect(traceParent(header)?.sampled).toBe(sampled)
})
