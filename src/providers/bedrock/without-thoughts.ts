import type { GatewayError } from '../../lib/errors.ts'
import { asList, asRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import { isAboutThoughts } from '../anthropic/own-turns.ts'
import type { Rewrite } from '../provider.ts'
import { editing } from '../wire/fitting/edited-request.ts'

/** Leaves the thoughts of earlier turns out of a request that Claude refused because of one. */
export function withoutThoughts(failure: GatewayError): Rewrite | undefined {
  if (!isAboutThoughts(failure)) return undefined
  return editing((body) => ({ messages: asList(body.messages).flatMap(withoutThought), ...withoutBudget(body) }))
}

function withoutThought(message: unknown): JsonRecord[] {
  const { content, ...turn } = asRecord(message)
  const said = asList(content).filter((block) => asRecord(block).reasoningContent === undefined)
  return said.length === 0 ? [] : [{ ...turn, content: said }]
}

/** A model that is told how much to think refuses calls before which it has not thought. */
function withoutBudget({ additionalModelRequestFields: own }: JsonRecord): JsonRecord {
  const fields = asRecord(own)
  if (asRecord(fields.thinking).type !== 'enabled') return {}
  return { additionalModelRequestFields: { ...fields, thinking: { type: 'disabled' } } }
}
