import { asList, asRecord, asText, type JsonRecord } from '../../lib/json/lenient.ts'
import type { WireError } from '../wire/wire-error.ts'

const decoder = new TextDecoder()

/** The error of an answer outside 2xx of an OpenAI-shaped API, in whichever of the shapes its vendor has. */
export function readErrorBytes(bytes: Uint8Array): WireError {
  return readErrorText(decoder.decode(bytes)) ?? readError(undefined)
}

function readErrorText(text: string): WireError | undefined {
  try {
    const body: unknown = JSON.parse(text)
    // Some vendors answer with a list of one error, some with the error as the top-level object.
    const first: unknown = Array.isArray(body) ? body[0] : body
    const record = asRecord(first)
    return readError(record.error ?? record.detail ?? firstOf(record.errors) ?? first)
  } catch {
    return undefined
  }
}

/** Cloudflare has a list of errors, and for some of its models only one in the place of the list. */
const firstOf = (errors: unknown) => (Array.isArray(errors) ? errors[0] : errors)

/** The error that an object in the place of an answer or a chunk reports; undefined if it reports none. `announced`: it is
 *  called an error by what is around it. */
export function reportedError(object: JsonRecord, announced = false): unknown {
  const { error, choices, detail, errors } = object
  if (error !== undefined && error !== null) return error
  if (choices !== undefined) return undefined
  if (announced || object.object === 'error' || object.type === 'error') return object
  return detail ?? firstOf(errors)
}

/** The parts of an error, which may be a text, an object, or a list of texts or of the fields that are wrong. */
export function readError(error: unknown): WireError {
  if (typeof error === 'string') return { message: error, type: undefined, code: undefined, param: undefined }
  const record = asRecord(error)
  const [field] = asList(Array.isArray(error) ? error : asRecord(record.message).detail)
  if (typeof field === 'string') return readError(field)
  if (field !== undefined) return aboutField(asRecord(field))
  const source = saidAtSource(record)
  return {
    message: source?.message ?? text(record.message),
    type: text(record.type),
    code: text(record.code),
    inner: text(asRecord(record.innererror).code) ?? source?.code ?? source?.type,
    param: text(record.param) ?? source?.param,
  }
}

/** What the vendor behind a router said, of which the router's own message tells nothing: JSON within OpenRouter's. */
function saidAtSource({ message, metadata }: JsonRecord): WireError | undefined {
  const raw = asText(asRecord(metadata).raw)
  if (raw === '' || message !== 'Provider returned error') return undefined
  return readErrorText(raw) ?? (raw.startsWith('<') ? undefined : readError(raw))
}

/** The first of the fields that a server in Python found wrong. */
function aboutField({ loc, msg, type }: JsonRecord): WireError {
  const param = asList(loc)
    .filter((name, index) => index > 0 || name !== 'body')
    .join('.')
  // Of a body that is wrong as a whole no field is named.
  const message = [param, asText(msg)].filter(Boolean).join(': ')
  return { message: text(message), type: undefined, code: text(type), param: text(param) }
}

function text(value: unknown): string | undefined {
  if (typeof value === 'string' && value !== '') return value
  return typeof value === 'number' ? String(value) : undefined
}
