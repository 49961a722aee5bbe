import { expect, it } from 'vitest'
import { modelInfo } from '../../../src/config/sections/model-list.ts'
import { settledUses } from '../../../src/modes/price/surcharges.ts'
import { asUsage, once, surchargesAsked } from '../../../src/modes/price/surcharges-asked.ts'
import { nativeGenerateContent } from '../../../src/providers/gemini/native-generate.ts'

const encoder = new TextEncoder()
const info = modelInfo().parse({
  tool_costs: { google_search: 0.035, google_maps: 0.025, enterprise_web_search: 0.045 },
})
const maps = { groundingChunks: [{ maps: { uri: 'https://maps.google.com/?cid=1', title: 'Trattoria' } }] }
const searches = { webSearchQueries: ['a', 'b'], groundingChunks: [{ web: { uri: 'https://a.example' } }] }

/** The uses by which a whole answer and a stream are billed. */
function billed(model: string, tools: readonly object[], groundingMetadata: object) {
  const body = { model, contents: [{ parts: [{ text: 'Where?' }] }], tools }
  const call = { body, bytes: new Uint8Array(), streamed: false }
  const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 }
  const content = { role: 'model', parts: [{ text: 'There.' }] }
  const answer = (more: object) => JSON.stringify({ candidates: [{ index: 0, content, ...more }], usageMetadata })
  const end = { finishReason: 'STOP' }
  const whole = nativeGenerateContent.reply(encoder.encode(answer({ groundingMetadata, ...end })), {}, call).usage
  const events = [answer({ groundingMetadata }), answer(end)].map((text) => `data: ${text}\r\n\r\n`).join('')
  const steps = nativeGenerateContent.stream?.(call, {}).push(encoder.encode(events)) ?? []
  const streamed = steps.findLast(({ usage }) => usage)?.usage
  const asked = asUsage(surchargesAsked(body), once).toolUses
  return [whole, streamed].map((usage) => settledUses(info, asked, usage?.toolUses))
}

// https://ai.google.dev/gemini-api/docs/maps-grounding · https://ai.google.dev/gemini-api/docs/google-search
it.each([
  ['a place', 'gemini-2.5-flash', [{ googleMaps: {} }], maps, { google_maps: 1 }],
  ['a place, asked in snake case', 'gemini-2.5-flash', [{ google_maps: {} }], maps, { google_maps: 1 }],
  ['no place', 'gemini-2.5-flash', [{ googleMaps: {} }], {}, undefined],
  ['queries of maps', 'gemini-3-pro', [{ googleMaps: {} }], { ...maps, webSearchQueries: ['x'] }, { google_maps: 1 }],
  ['a search', 'gemini-2.5-flash', [{ googleSearch: {} }], searches, { google_search: 1 }],
  ['queries', 'gemini-3-pro', [{ googleSearch: {} }], searches, { google_search: 2 }],
  [
    'queries for pictures',
    'gemini-3-pro',
    [{ googleSearch: {} }],
    { ...searches, imageSearchQueries: ['c'] },
    { google_search: 3 },
  ],
  [
    'a search of enterprises',
    'gemini-2.5-flash',
    [{ enterpriseWebSearch: {} }],
    searches,
    { enterprise_web_search: 1 },
  ],
  [
    'both',
    'gemini-3-pro',
    [{ googleSearch: {} }, { googleMaps: {} }],
    { webSearchQueries: ['a'], groundingChunks: maps.groundingChunks },
    { google_search: 1, google_maps: 1 },
  ],
])('an answer that is grounded by %s is billed for it', (_, model, tools, grounding, uses) => {
  expect(billed(model, tools, grounding)).toEqual([uses, uses])
})
