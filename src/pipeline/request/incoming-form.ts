import { GatewayError } from '../../lib/errors.ts'
import type { Footprint } from '../../lib/footprints.ts'
import { type ArrivingForm, arrivingForm } from '../../lib/forms/arriving-form.ts'
import { MalformedForm } from '../../lib/forms/multipart.ts'
import { spoolMemoryBytes } from '../../lib/forms/spool.ts'
import { isInMetadata, type RequestForm, readForm } from '../../modes/form.ts'
import type { Mode, ModelRequest } from '../../modes/mode.ts'
import { type RecordingLength, recordingLength } from '../../modes/recording-length.ts'
import { PROXY_FIELDS } from '../../providers/openai-compatible/proxy-fields.ts'
import type { Client, Upload } from '../client.ts'
import { checked, type Parsed, unlessMalformed } from './checked.ts'

/** A form that is announced to be no longer is waited for, so that its metadata never comes too late. */
const SHORT_BYTES = 256 * 1024

/** The form of a call, on its way from the client to the upstream. */
export interface IncomingForm extends RequestForm {
  /** Resolves once the model is known and the file has begun, which is enough to route the call. Returns a malformed
   *  request as an error; rejects if the form is too large or the client leaves. */
  head(): Promise<Parsed>
  /** The fields that have arrived. */
  readonly request: ModelRequest | undefined
  /** The length of an uploaded recording, if its format states it. */
  readonly seconds: number | undefined
}

export function incomingForm(
  client: Pick<Client, 'upload' | 'scratch'>,
  mode: Mode,
  contentType: string,
  {
    limitBytes,
    footprint,
    hasTags = () => false,
    model,
  }: {
    readonly limitBytes: number
    readonly footprint: Footprint
    /** Whether deployments of a model have tags, by which metadata may choose among them. */
    readonly hasTags?: (model: string) => boolean
    /** The model that the address names. */
    readonly model?: string | undefined
  },
): IncomingForm {
  const { form: place } = mode
  let known: ModelRequest | undefined
  const length = mode.ofFile ? recordingLength() : undefined
  const isEnough = () => {
    if (place?.whole || (raw.length !== undefined && raw.length <= SHORT_BYTES)) return false
    const named = decided(raw, place, model)
    return named !== undefined && !((raw.movesOut || raw.received < spoolMemoryBytes(raw)) && hasTags(named))
  }
  /** How many fields had arrived when the call was routed by them. */
  let routedBy = Number.POSITIVE_INFINITY
  const readAs = (form: ArrivingForm): Parsed =>
    unlessMalformed(() => {
      const read = namingModel(readForm(form), place?.model, model)
      if (typeof read.metadata === 'string') return { error: notAnObject('metadata') }
      const parsed = checked(read, mode.schema(), (valid) => valid)
      if (!parsed.error) known = parsed.request
      return parsed
    })
  // Nobody reads a form before the call is routed. Until then all of it stays in memory that nothing moves out.
  const mostHeld = () => (raw.movesOut || Number.isFinite(routedBy) ? spoolMemoryBytes(raw) : limitBytes)
  const raw: ArrivingForm = arrivingForm(counted(client.upload(limitBytes), mostHeld, footprint), {
    contentType,
    scratch: client.scratch,
    ...(length ? { watch: fileWatcher(length) } : {}),
    check(form) {
      const { error } = readAs(form)
      if (error) throw error
      if (!place?.whole) refuseLateRouting(form, routedBy)
    },
  })
  return {
    raw,
    addressed: model !== undefined,
    get seconds() {
      return length?.seconds()
    },
    get request() {
      return known
    },
    async head() {
      try {
        while (raw.closing === undefined && !isEnough()) await raw.pull()
        routedBy = arrived(raw)
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

/** Refuses routing fields behind the file: the route, and whether the client may choose models, was decided when the
 *  file began. So were the deployments that have the tags: metadata must be among the fields that the call was routed by. */
function refuseLateRouting({ parts }: ArrivingForm, routedBy: number): void {
  const file = parts.findIndex(({ filename }) => filename !== undefined)
  const chooses = (name: string) => PROXY_FIELDS.has(name.replace(/\[\]$/, ''))
  const late = parts.find(
    ({ name }, index) => index > file && (chooses(name) || (index >= routedBy && isInMetadata(name))),
  )
  if (file === -1 || !late) return
  const message = `'${late.name}' must stand before the file of the form.`
  throw new GatewayError('invalid_request', message, { param: late.name })
}

/** Counts into `footprint` as much of the upload as may be in memory. */
function counted(upload: Upload, mostBytes: () => number, footprint: Footprint): Upload {
  let held = 0
  return {
    ...upload,
    async read() {
      const piece = await upload.read()
      const more = Math.min(mostBytes() - held, piece?.byteLength ?? 0)
      if (more <= 0) return piece
      footprint.add(more)
      held += more
      return piece
    },
  }
}

/** Feeds the bytes of the file to the length reader. */
function fileWatcher(length: RecordingLength): (form: ArrivingForm, piece: Uint8Array, start: number) => void {
  return ({ parts }, piece, start) => {
    const file = parts.find(({ name, filename }) => name === 'file' && filename !== undefined)
    if (!file) return
    const from = Math.max(0, file.start - start)
    const until = file.end === undefined ? piece.byteLength : Math.min(piece.byteLength, file.end - start)
    if (from < until) length.push(piece.subarray(from, until))
  }
}

/** The number of fields that have arrived, and of the file that may still be arriving. */
const arrived = ({ parts }: ArrivingForm) =>
  parts.filter(({ filename, end }) => filename !== undefined || end !== undefined).length

const notAnObject = (field: string) =>
  new GatewayError('invalid_request', `${field}: must be a JSON object`, { param: field })

/** The model that a form names, once its file has begun. */
function decided({ parts }: ArrivingForm, place: Mode['form'], model: string | undefined): string | undefined {
  if (!parts.some(({ name, filename }) => name === place?.file && filename !== undefined)) return undefined
  const field = place?.model ?? 'model'
  return model ?? parts.find(({ name, text }) => name === field && text !== undefined)?.text
}

/** The fields of a form with its model as `model`, wherever it was named. */
function namingModel(read: Record<string, unknown>, field: string | undefined, named: string | undefined) {
  if (named !== undefined) return { ...read, model: named }
  if (field === undefined) return read
  const { [field]: model, ...others } = read
  return { ...others, model }
}

/** The failure that ended a form; undefined if the error was something else. */
export function asFormFailure(error: unknown): GatewayError | undefined {
  if (error instanceof GatewayError) return error
  if (!(error instanceof MalformedForm)) return undefined
  const message = `The request body is not a valid multipart form: ${error.message}.`
  return new GatewayError('invalid_request', message, { code: 'invalid_form' })
}
