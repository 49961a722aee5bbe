import { GatewayError } from '../../lib/errors.ts'

/** The forms of an answer that a client takes. */
export interface AcceptedAnswers {
  readonly json: boolean
  readonly events: boolean
}

/** By the Accept header. A client without it takes JSON. */
export function acceptedAnswers(accept: string | undefined): AcceptedAnswers {
  if (accept === undefined) return { json: true, events: false }
  const ranges = accept.split(',').map(readRange)
  const takes = (type: string) => {
    const group = `${type.slice(0, type.indexOf('/'))}/*`
    // The most specific range counts.
    for (const name of [type, group, '*/*']) {
      const range = ranges.find((one) => one.name === name)
      if (range) return range.taken
    }
    return false
  }
  // Every HTTP client accepts `*/*`: a stream is only for clients that name its type.
  const events = ranges.some(({ name, taken }) => taken && name === 'text/event-stream')
  const json = takes('application/json')
  if (json || events) return { json, events }
  const message = 'Answers are application/json, or text/event-stream. Accept both of them.'
  throw new GatewayError('invalid_request', message, { status: 406, param: 'accept', code: 'not_acceptable' })
}

function readRange(text: string): { readonly name: string; readonly taken: boolean } {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  return { name, taken: !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)) }
}
