import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../src/lib/errors.ts'
import { asList, asRecord, type JsonRecord } from '../../src/lib/json/lenient.ts'
import {
  asked,
  type Case,
  type CaseFile,
  callOf,
  caseFiles,
  heard,
  heardEvents,
  matching,
  present,
  written,
} from '../support/translations.ts'

/** Clients of every dialect at providers of others, as data: `test/fixtures/translations`. What is expected is what the
 *  vendors publish of their requests and answers. */
const FILES = caseFiles()

describe.each(FILES)('%s', (place, file) => {
  it.each(file.cases)('$name', async (one) => {
    if (one.says === undefined) return asks(place, file, one)
    if (Array.isArray(one.says)) return streams(place, file, one)
    return answers(place, file, one)
  })
})

it('are many', () => {
  expect(FILES.reduce((sum, [, { cases }]) => sum + cases.length, 0)).toBeGreaterThan(300)
})

async function asks(place: string, file: CaseFile, one: Case): Promise<void> {
  const call = callOf(place, file, one, false)
  if (one.refuses !== undefined) {
    const refusal = await asked(call).then(
      (body) => body,
      (thrown) => thrown,
    )
    expect(refusal).toBeInstanceOf(GatewayError)
    expect(refusal).toMatchObject({ failure: 'invalid_request', details: { param: one.refuses } })
    return
  }
  const body = await asked(call)
  expect(body).toEqual(matching(present({ ...file.asks, ...one.asks }), false))
  expect([...(call.notes.dropped ?? [])].sort()).toEqual([...(one.drops ?? [])].sort())
}

function answers(place: string, file: CaseFile, one: Case): void {
  const call = callOf(place, file, one, false)
  const read = () => heard(call, present({ ...file.says, ...(one.says as object) }))
  if (one.fails !== undefined) {
    expect(read).toThrow(expect.objectContaining({ failure: one.fails }))
    return
  }
  const { answer, usage } = read()
  const heardAs = present({ ...file.hears, ...(one.hears as object) })
  const expected = place.startsWith('chat-') ? inChat(heardAs) : heardAs
  expect(answer).toEqual(matching(expected, place.startsWith('responses-')))
  if (one.bills) expect(usage).toMatchObject(one.bills)
}

/** An answer in chat with the members that it always has. */
function inChat(answer: JsonRecord): JsonRecord {
  const choices = asList(answer.choices).map((one) => {
    const { message, ...choice } = asRecord(one)
    return { logprobs: null, ...choice, message: { refusal: null, ...asRecord(message) } }
  })
  return { system_fingerprint: null, ...answer, choices }
}

function streams(place: string, file: CaseFile, one: Case): void {
  const { says: [before = [], behind = []] = [], hears: [first = [], last = []] = [] } = file.around ?? {}
  const model = one.model ?? file.model ?? ''
  const bytes = written(model, [...before, ...(one.says as []), ...behind])
  const partly = place.startsWith('responses-')
  for (const size of [bytes.byteLength, 7]) {
    const call = callOf(place, file, one, true)
    if (one.fails !== undefined) {
      expect(() => heardEvents(call, bytes, size)).toThrow(expect.objectContaining({ failure: one.fails }))
      continue
    }
    const { events, usage } = heardEvents(call, bytes, size)
    const { only } = file
    const seen = only ? events.filter(({ type }) => only.includes(String(type))) : events
    expect(seen).toEqual(matching([...first, ...((one.hears ?? []) as []), ...last], partly))
    if (one.bills) expect(usage).toMatchObject(one.bills)
  }
}
