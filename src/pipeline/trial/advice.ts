import type { GatewayError } from '../../lib/errors.ts'
import { asList, asRecord, asText } from '../../lib/json/lenient.ts'
import type { Seen } from './watched-transport.ts'

const LONGEST_WORDS = 500
const decoder = new TextDecoder()

/** A web page, or an error document of a proxy. */
const PAGE = /^\s*<(!doctype|html|head|\?xml)/i

/** The provider's own words: the message of its error, or the text of its answer; undefined if there is no text. */
export function wordsOf({ beginning, contentType }: Pick<Seen, 'beginning' | 'contentType'>): string | undefined {
  const text = beginning
    .map((piece) => decoder.decode(piece, { stream: true }))
    .join('')
    .concat(decoder.decode())
  const words = isPage({ beginning, contentType })
    ? (/<title[^>]*>([^<]*)/i.exec(text)?.[1] ?? text.replace(/<(script|style)[\s\S]*?<\/\1>|<[^>]*>/gi, ' '))
    : (messageIn(text) ?? text)
  const line = words.replace(/\s+/g, ' ').trim()
  if (line === '') return undefined
  return line.length <= LONGEST_WORDS ? line : `${line.slice(0, LONGEST_WORDS).toWellFormed()}…`
}

function isPage({ beginning: [first], contentType }: Pick<Seen, 'beginning' | 'contentType'>): boolean {
  return /\bhtml\b/i.test(contentType) || (first !== undefined && PAGE.test(decoder.decode(first.slice(0, 200))))
}

/** The message of an error as vendors write it: `error.message`, `error`, `message`, `detail`, the first of a list. */
function messageIn(text: string): string | undefined {
  let body: unknown
  try {
    body = JSON.parse(text.replace(/^(event:.*\n)?data: ?/, ''))
  } catch {
    return undefined
  }
  const record = asRecord(Array.isArray(body) ? body[0] : body)
  const error = record.error ?? record.detail ?? record
  const nested = asRecord(asList(error)[0] ?? error)
  const message = asText(error) || asText(nested.message) || asText(nested.msg) || asText(record.message)
  return message === '' ? undefined : message
}

/** What the operator can change so that a deployment answers. */
export function adviceFor(failure: GatewayError, seen: Seen): string {
  const { status, address } = seen
  if (address === null) return failure.details.param ? `Change ${failure.details.param}.` : 'Change the named field.'
  if (isPage(seen))
    return 'The address answers with a web page, not with an API. Check api_base: it often lacks its last part, such as /v1.'
  switch (failure.failure) {
    case 'upstream_unreachable':
      return 'Nothing answers there. Check api_base (host, port, http or https), and that this machine may reach it.'
    case 'upstream_timeout':
    case 'call_timeout':
      return 'It is slow, or the address belongs to something else. Try again with more time; if it stays so, raise timeout for this deployment.'
    case 'upstream_refused':
      if (status === 401)
        return 'The credential is not accepted. Replace api_key, and check that it belongs to this address.'
      if (status === 402) return "The provider's account has no credit. Pay there, or use another key."
      if (status === 403)
        return 'The credential is known, but not for this model or this region. Give it access at the provider, or use another key.'
      if (status === 404 || status === 405)
        return "The model or the path is not known there. Check the model's name, and the path in api_base."
      return 'The provider refuses this access. Check the credential and the model.'
    case 'upstream_rate_limited':
      return "Address and credential work; the provider's account is at its limit now. Try again later, or raise the limit there."
    case 'upstream_rejected':
    case 'context_window':
      return 'Address and credential work; the provider refuses this request. Check model, mode and default_params by its words.'
    case 'content_policy':
      return 'Address and credential work; the provider refused the content of the trial for its policy.'
    case 'upstream_malformed':
    case 'upstream_truncated':
    case 'unusable_answer':
      return "The server at this address speaks another API than this provider's. Check the provider, api_base and api_version."
    case 'loop_detected':
      return 'The address leads back to this gateway. Change api_base.'
    case 'invalid_request':
      return failure.details.param ? `Change ${failure.details.param}.` : 'Check mode and default_params.'
    default:
      return 'The provider itself is failing. Try again later.'
  }
}
