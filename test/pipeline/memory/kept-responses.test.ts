import { expect, it } from 'vitest'
import { keptResponses } from '../../../src/pipeline/memory/kept-responses.ts'
import { inProcessStore } from '../../../src/stores/kv/in-process.ts'

it('tells how much memory a kept conversation takes before it is unpacked', async () => {
  const settings = { responses_retention: 60, responses_max_bytes: 1e6, responses_max_total_bytes: 1e6 }
  const responses = keptResponses(inProcessStore({ now: Date.now }), undefined, settings)
  const tenant = { name: 't', organization: 'o' }
  const kept = { answer: {}, input: [{ content: 'x'.repeat(100_000) }], deployment: 'd', cachedAt: undefined }
  const { text } = await responses.stored(tenant, 'resp_1', kept)
  const told: number[] = []
  expect(await responses.read(tenant, 'resp_1', text, (bytes) => told.push(bytes))).toEqual(kept)
  expect(told).toEqual([JSON.stringify({ ...kept, organization: 'o' }).length])
  const full = new Error('no room')
  const refuse = () => {
    throw full
  }
  await expect(responses.read(tenant, 'resp_1', text, refuse)).rejects.toBe(full)
})
