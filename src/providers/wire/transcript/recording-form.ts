import { type FormFields, newForm } from '../../../lib/forms/form-parts.ts'
import type { JsonRecord } from '../../../lib/json/lenient.ts'
import type { TranscriptionRequest } from '../../../modes/audio-transcription.ts'
import { isFormFile } from '../../../modes/form.ts'
import type { Outgoing } from '../../provider.ts'
import { lateField } from '../late-field.ts'
import { unsupported } from '../unsupported-fields.ts'

/** The form of a vendor with fields of its own: what they are, the recording, and fields that arrive behind it. */
export function recordingForm(
  { body, form: sent }: Outgoing<TranscriptionRequest>,
  fieldsOf: (body: TranscriptionRequest) => FormFields,
) {
  const fields = fieldsOf(body)
  const late = async () => (sent ? addedTo(fields, fieldsOf(await sent.whole())) : [])
  const { filename, contentType } = body.file
  const file = { name: 'file', filename, contentType, content: body.file.open() }
  return sent?.raw.closing === undefined ? newForm(fields, file, late) : newForm(fields, file)
}

/** The vendor's own options as fields of its form: a list repeats its name, an object is written as JSON. */
export function ownFields(options: JsonRecord, api: string): FormFields {
  return Object.entries(options).flatMap(([name, value]) => [value].flat().flatMap((one) => field(name, one, api)))
}

function field(name: string, value: unknown, api: string): FormFields {
  if (value === undefined || value === null) return []
  if (isFormFile(value)) throw unsupported(name, api)
  return [[name, typeof value === 'object' ? JSON.stringify(value) : String(value)]]
}

/** The fields that were not sent before the file. */
function addedTo(sent: FormFields, all: FormFields): FormFields {
  const left = [...sent]
  const added = all.filter(([name, value]) => {
    const at = left.findIndex((field) => field[0] === name && field[1] === value)
    if (at !== -1) left.splice(at, 1)
    return at === -1
  })
  // A default was sent in place of a field that arrived after the file.
  if (left.length > 0) throw lateField()
  return added
}
