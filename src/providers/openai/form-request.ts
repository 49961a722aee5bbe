import type { ArrivingForm } from '../../lib/forms/arriving-form.ts'
import { editedForm, type FormFields, newForm } from '../../lib/forms/form-parts.ts'
import { type FormFile, isFormFile, isInMetadata, type RequestForm } from '../../modes/form.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import type { UpstreamRequest } from '../../transport/transport.ts'
import type { Adapter, Connection } from '../provider.ts'
import { formFields } from '../wire/form-fields.ts'

/** Relays the client's form to a path, without its metadata, with the model renamed and the operator's defaults added for
 *  fields that the client left out. */
export function formRequest(path: string): Adapter['request'] {
  return ({ body, form }, connection) => {
    if (!form) throw new TypeError(`${path} is asked by a form`)
    const { model, defaults } = connection
    if (form.rewritten) return rewritten(path, body, form, connection)
    return {
      method: 'POST',
      origin: connection.origin,
      path: `${connection.basePath}${path}`,
      headers: { ...connection.headers, 'content-type': form.raw.contentType, accept: '*/*' },
      upload: editedForm(
        form.raw,
        { ...withheld(form), model },
        added(form.addressed ? { ...defaults, model } : defaults, form.raw),
      ),
    }
  }
}

/** A form of its own, for a request whose client's form has other fields. Those behind the file follow it. */
function rewritten(path: string, body: ModelRequest, form: RequestForm, connection: Connection): UpstreamRequest {
  const fields = fieldsOf(body, connection)
  const late = async () => {
    const sent = new Set(fields.map(([name]) => name))
    return fieldsOf(await form.whole(), connection).filter(([name]) => !sent.has(name))
  }
  const [name, file] = Object.entries(body).find(([, value]) => isFormFile(value)) as [string, FormFile]
  const { filename, contentType } = file
  const written = newForm(fields, { name, filename, contentType, content: file.open() }, late)
  return {
    method: 'POST',
    origin: connection.origin,
    path: `${connection.basePath}${path}`,
    headers: { ...connection.headers, 'content-type': written.contentType, accept: '*/*' },
    upload: written.body,
  }
}

/** Models that answer in plain JSON alone. */
const PLAIN = /^gpt-(.*-)?transcribe/

function fieldsOf(asked: ModelRequest, { model }: Connection): FormFields {
  const { timestamp_granularities: _, ...plain } = asked
  const body = PLAIN.test(model) ? { ...plain, response_format: 'json' } : asked
  return Object.entries({ ...body, model }).flatMap(([name, value]) =>
    isFormFile(value) ? [] : formFields(name, value),
  )
}

/** Withheld fields are sent empty; metadata is the gateway's own. */
function withheld({ withheld: names = [], raw }: RequestForm): Record<string, string | null> {
  const own = raw.parts.filter(({ name }) => isInMetadata(name))
  return Object.fromEntries([...names.map((name) => [name, '']), ...own.map(({ name }) => [name, null])])
}

/** The operator's defaults for fields that the client left out. undefined without defaults, so that the length of the form
 *  stays known. */
function added(defaults: Connection['defaults'], form: ArrivingForm): (() => FormFields) | undefined {
  const { voice_id: _voice, ...set } = defaults
  if (Object.keys(set).length === 0) return undefined
  return () => {
    const sent = new Set(form.parts.map(({ name }) => name.replace(/\[\]$/, '')))
    return Object.entries(set).flatMap(([name, value]) => (sent.has(name) ? [] : formFields(name, value)))
  }
}
