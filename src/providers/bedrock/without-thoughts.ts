import type { GatewayError } from '../../lib/errors.ts'
import { exactRecord } from '../../lib/json/exact-json.ts'
import { asList, asRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import { wholeBody } from '../../transport/whole-body.ts'
import { isAboutThoughts } from '../anthropic/own-turns.ts'
import type { Otherwise } from '../provider.ts'

const encoder = new TextEncoder()

/** Leaves the thoughts of earlier turns out of a request that Claude refused because of one. */
export function withoutThoughts(failure: GatewayError): Otherwise | undefined {
  if (!isAboutThoughts(failure)) return undefined
  return (request) => {
    const whole = wholeBody(request.body)
    const body = exactRecord(typeof whole === 'string' ? encoder.encode(whole) : whole)
    const messages = asList(body?.messages).flatMap((message) => {
      const { content, ...turn } = asRecord(message)
      const said = asList(content).filter((block) => asRecord(block).reasoningContent === undefined)
      return said.length === 0 ? [] : [{ ...turn, content: said }]
    })
    return { ...request, body: JSON.stringify({ ...body, messages, ...withoutBudget(asRecord(body)) }) }
  }
}

/** A model that is told how much to think refuses calls before which it has not thought. */
function withoutBudget({ additionalModelRequestFields: own }: JsonRecord): JsonRecord {
  const fields = asRecord(own)
  if (asRecord(fields.thinking).type !== 'enabled') return {}
  return { additionalModelRequestFields: { ...fields, thinking: { type: 'disabled' } } }
}
