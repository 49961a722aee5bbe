import { type FailureName, GatewayError } from '../../lib/errors.ts'
import { asList, asRecord, asText, entryOf, isRecord, type JsonRecord, parseRecord } from '../../lib/json/lenient.ts'
import { retryAfterSeconds } from '../../lib/retry-after.ts'
import { classifyFailure } from '../openai/failure.ts'
import type { WireError } from '../wire/wire-error.ts'

/** The failures of codes that are more precise than their status. */
const BY_CODE: Readonly<Record<string, FailureName>> = {
  max_character_limit_exceeded: 'context_window',
  text_too_long: 'context_window',
  content_against_policy: 'content_policy',
}

/** The fields of codes that reject a choice of the client, whatever their status. */
const CHOSEN: Readonly<Record<string, string>> = {
  voice_not_found: 'voice',
  voice_access_denied: 'voice',
  output_format_not_allowed: 'response_format',
}
const LIBRARY_VOICE = /library voices/i

/** The public names of the vendor's fields. */
const FIELDS: Readonly<Record<string, string>> = {
  text: 'input',
  voice_id: 'voice',
  model_id: 'model',
  language_code: 'language',
  output_format: 'response_format',
}

/** Names the failure that an answer outside 2xx reports in `detail`: an object, a list of wrong fields, or a text. */
export function elevenlabsFailure(
  status: number,
  headers: Readonly<Record<string, string>>,
  bytes: Uint8Array,
  now: number,
): GatewayError {
  return named(status, parseRecord(bytes), retryAfterSeconds(headers, now))
}

/** Names an error inside an answer of status 200. */
export function elevenlabsEmbeddedFailure(body: JsonRecord): GatewayError {
  return named(502, body, undefined)
}

function named(status: number, body: JsonRecord | undefined, retryAfter: number | undefined): GatewayError {
  const wire = readWire(body?.detail)
  const failure = entryOf(BY_CODE, wire.code)
  if (failure) return new GatewayError(failure, wire.message ?? 'The provider rejected the request.')
  // These are the client's mistakes, not the operator's.
  const chosen = entryOf(CHOSEN, wire.code) ?? (LIBRARY_VOICE.test(wire.message ?? '') ? 'voice' : undefined)
  if (chosen) return classifyFailure(400, { ...wire, param: chosen }, retryAfter)
  return classifyFailure(status, wire, retryAfter)
}

function readWire(detail: unknown): WireError {
  const [wrong] = asList(detail)
  if (wrong !== undefined) {
    const { loc, msg } = asRecord(wrong)
    const param = publicName(asText(asList(loc).at(-1)))
    const message = [param, asText(msg)].filter(Boolean).join(': ')
    return { message: message || undefined, type: undefined, code: undefined, param }
  }
  const { message, type, code, status, param } = asRecord(detail)
  return {
    message: asText(isRecord(detail) ? message : detail) || undefined,
    type: asText(type) || undefined,
    code: asText(code) || asText(status) || undefined,
    param: publicName(asText(param)),
  }
}

const publicName = (field: string) => entryOf(FIELDS, field) ?? (field || undefined)
