import { GatewayError } from '../../lib/errors.ts'
import type { Footprint } from '../../lib/footprints.ts'
import { type ArrivingForm, arrivingForm } from '../../lib/forms/arriving-form.ts'
import { MalformedForm } from '../../lib/forms/multipart.ts'
import { spoolMemoryBytes } from '../../lib/forms/spool.ts'
import { type RequestForm, readForm } from '../../modes/form.ts'
import type { Mode, ModelRequest } from '../../modes/mode.ts'
import { type RecordingLength, recordingLength } from '../../modes/recording-length.ts'
import { PROXY_FIELDS } from '../../providers/openai/vendors.ts'
import type { Client, Upload } from '../client.ts'
import { checked, type Parsed } from './checked.ts'

/** The form of a call, from its client to whoever is asked. */
export interface IncomingForm extends RequestForm {
  /** The request as far as a call is decided by it: its model is known and its file has begun. Whatever is wrong with it
   *  is returned; rejects when it is too large, or when the client leaves. */
  head(): Promise<Parsed>
  /** What is known of the request by now. */
  readonly request: ModelRequest | undefined
  /** Of a recording that has come, where it tells itself how long it is. */
  readonly seconds: number | undefined
}

export function incomingForm(
  client: Client,
  mode: Mode,
  contentType: string,
  { limitBytes, footprint }: { readonly limitBytes: number; readonly footprint: Footprint },
): IncomingForm {
  let known: ModelRequest | undefined
  const length = mode.ofFile ? recordingLength() : undefined
  const readAs = (form: ArrivingForm): Parsed => {
    const read = readForm(form)
    const parsed = checked(read, mode.schema(), (valid) => valid)
    if (!parsed.error) known = parsed.request
    return parsed
  }
  const raw = arrivingForm(counted(client.upload(limitBytes), spoolMemoryBytes(client.scratch), footprint), {
    contentType,
    scratch: client.scratch,
    ...(length ? { watch: fileWatcher(length) } : {}),
    check(form) {
      const { error } = readAs(form)
      if (error) throw error
      refuseLateRouting(form)
    },
  })
  return {
    raw,
    get seconds() {
      return length?.seconds()
    },
    get request() {
      return known
    },
    async head() {
      try {
        while (raw.closing === undefined && !decided(raw)) await raw.pull()
      } catch (error) {
        const failure = asFormFailure(error)
        if (failure?.failure === 'invalid_request') return { error: failure }
        throw error
      }
      return readAs(raw)
    },
    async whole() {
      await raw.whole()
      if (!known) throw new TypeError('a form that is no request was not refused')
      return known
    },
  }
}

/** Where a form goes was decided when its file began, and whether its sender may choose models there. */
function refuseLateRouting({ parts }: ArrivingForm): void {
  const file = parts.findIndex(({ filename }) => filename !== undefined)
  const late = parts.find(({ name }, index) => index > file && FORM_ROUTING.has(name.replace(/\[\]$/, '')))
  if (file === -1 || !late) return
  const message = `'${late.name}' must stand before the file of the form.`
  throw new GatewayError('invalid_request', message, { param: late.name })
}

const FORM_ROUTING: ReadonlySet<string> = new Set(PROXY_FIELDS)

/** An upload of which `footprint` is told as much as may stay in memory. */
function counted(upload: Upload, mostBytes: number, footprint: Footprint): Upload {
  let left = mostBytes
  return {
    ...upload,
    async read() {
      const piece = await upload.read()
      if (piece === undefined || left === 0) return piece
      const more = Math.min(left, piece.byteLength)
      footprint.add(more)
      left -= more
      return piece
    },
  }
}

/** Shows what comes of the file to who follows it. */
function fileWatcher(length: RecordingLength): (form: ArrivingForm, piece: Uint8Array, start: number) => void {
  return ({ parts }, piece, start) => {
    const file = parts.find(({ name, filename }) => name === 'file' && filename !== undefined)
    if (!file) return
    const from = Math.max(0, file.start - start)
    const until = file.end === undefined ? piece.byteLength : Math.min(piece.byteLength, file.end - start)
    if (from < until) length.push(piece.subarray(from, until))
  }
}

function decided({ parts }: ArrivingForm): boolean {
  return (
    parts.some(({ name, text }) => name === 'model' && text !== undefined) &&
    parts.some(({ name, filename }) => name === 'file' && filename !== undefined)
  )
}

/** What ended a form too early, by its proper name; undefined when it was something else. */
export function asFormFailure(error: unknown): GatewayError | undefined {
  if (error instanceof GatewayError) return error
  if (!(error instanceof MalformedForm)) return undefined
  const message = `The request body is not a valid multipart form: ${error.message}.`
  return new GatewayError('invalid_request', message, { code: 'invalid_form' })
}
