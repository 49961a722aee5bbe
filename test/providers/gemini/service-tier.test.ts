import { expect, it } from 'vitest'
import { modelInfo } from '../../../src/config/sections/model-list.ts'
import { settledTerms } from '../../../src/modes/price/surcharges.ts'
import { generateContent } from '../../../src/providers/gemini/generate-content.ts'
import { nativeGenerateContent } from '../../../src/providers/gemini/native-generate.ts'

const encoder = new TextEncoder()
const call = { body: { model: 'gemini-2.5-flash' }, bytes: new Uint8Array(), streamed: false }
const info = modelInfo().parse({ price_multipliers: { 'service_tier/flex': 0.5, 'service_tier/priority': 1.8 } })

/** What a whole answer and a stream say of the tier by which they are billed. */
function billed(asked: string, headers: Readonly<Record<string, string>>, trafficType?: string) {
  const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5, trafficType }
  const candidates = [{ index: 0, content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }]
  const text = JSON.stringify({ candidates, usageMetadata })
  return [nativeGenerateContent, generateContent].flatMap((adapter) => {
    const whole = adapter.reply(encoder.encode(text), headers, call).usage
    const steps = adapter.stream?.(call, headers).push(encoder.encode(`data: ${text}\r\n\r\n`)) ?? []
    const streamed = steps.findLast(({ usage }) => usage)?.usage
    return [whole, streamed].map((usage) => settledTerms(info, { service_tier: asked }, usage?.terms))
  })
}

const flex = { service_tier: 'flex' }
const priority = { service_tier: 'priority' }

// https://ai.google.dev/gemini-api/docs/priority-inference
it.each([
  ['flex', { 'x-gemini-service-tier': 'flex' }, undefined, flex],
  ['priority', { 'x-gemini-service-tier': 'priority' }, undefined, priority],
  ['priority', { 'x-gemini-service-tier': 'standard' }, undefined, undefined],
  ['flex', {}, 'ON_DEMAND_FLEX', flex],
  ['priority', {}, 'ON_DEMAND', undefined],
  ['priority', {}, undefined, priority],
  ['flex', {}, undefined, undefined],
])('a call that asks for %s, answered with %j and traffic %s, is billed by the tier that served it', (...one) => {
  const [asked, headers, traffic, terms] = one
  expect(billed(asked, headers as Record<string, string>, traffic)).toEqual([terms, terms, terms, terms])
})
