import { includesAscii } from '../../lib/bytes/latin1.ts'
import { GatewayError } from '../../lib/errors.ts'
import { camelCase, eitherCase, spelledIn } from '../../lib/json/camel-case.ts'
import { wordsIn } from '../../lib/json/lazy-json.ts'
import { asList, asRecord, asText, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import type { Connection } from '../provider.ts'
import { cloudObjectRefused } from '../wire/cloud-objects.ts'
import { OBJECTS } from './generate-content.ts'
import { SEALED_THINKING, WITHOUT_SIGNATURE } from './thought-signature.ts'

/** Members of the generation settings that choose another model. */
const CHOOSING = ['routingConfig', 'modelSelectionConfig'] as const
const FILES: ReadonlySet<string> = new Set(['fileData', 'file_data'])

/** The changes of a request that is relayed: signatures that hold the reasoning of another vendor's model are replaced.
 *  Throws for what a client may not ask of the operator's account. */
export function nativeChanges(body: ModelRequest, bytes: Uint8Array, connection: Connection): JsonRecord {
  const whole = spelledIn(body, 'generateContentRequest')
  refuseIn(body, connection, '')
  const nested = body[whole]
  if (isRecord(nested)) {
    refuseIn(nested, connection, `${whole}.`)
    // It names the model again.
    return { [whole]: { ...nested, model: modelName(connection), ...unsealed(nested, bytes) } }
  }
  return unsealed(body, bytes)
}

const modelName = ({ model }: Connection) => (model.includes('/') ? model : `models/${model}`)

function refuseIn(request: JsonRecord, connection: Connection, at: string): void {
  const config = asRecord(eitherCase(request, 'generationConfig'))
  for (const name of CHOOSING) {
    const chosen = eitherCase(config, name)
    if (chosen === undefined || chosen === null) continue
    const param = `${at}generationConfig.${name}`
    const message = `'${param}' leads to other models than the one that the path names. Leave it out.`
    throw new GatewayError('invalid_request', message, { param, code: 'unsupported_parameter' })
  }
  if (connection.parameters.allow_cloud_objects || wordsIn(request, 'contents', FILES)?.size === 0) return
  for (const [index, content] of asList(request.contents).entries()) {
    refuseFiles(asRecord(content).parts, `${at}contents.${index}.parts`)
  }
  refuseFiles(asRecord(eitherCase(request, 'systemInstruction')).parts, `${at}systemInstruction.parts`)
}

function refuseFiles(parts: unknown, at: string): void {
  for (const [index, value] of asList(parts).entries()) {
    const part = camelCase(value)
    const address = asText(camelCase(part.fileData).fileUri)
    if (OBJECTS.test(address.trimStart())) throw cloudObjectRefused(`${at}.${index}.fileData`)
    if (part.functionResponse) {
      refuseFiles(asRecord(part.functionResponse).parts, `${at}.${index}.functionResponse.parts`)
    }
  }
}

function unsealed(request: JsonRecord, bytes: Uint8Array): JsonRecord {
  if (!includesAscii(bytes, SEALED_THINKING)) return {}
  const contents = asList(request.contents).map((content) => {
    const { parts } = asRecord(content)
    return { ...asRecord(content), parts: asList(parts).map(withoutSeal) }
  })
  return { contents }
}

function withoutSeal(part: unknown): unknown {
  const record = asRecord(part)
  const name = spelledIn(record, 'thoughtSignature')
  return asText(record[name]).startsWith(SEALED_THINKING) ? { ...record, [name]: WITHOUT_SIGNATURE } : part
}
