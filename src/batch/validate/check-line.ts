import { GatewayError } from '../../lib/errors.ts'
import { boundJson, REQUEST_BOUNDS } from '../../lib/json/json-bounds.ts'
import { isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { Line } from '../lines.ts'
import { asksForManagedTools } from '../managed-tools.ts'

const LONGEST_CUSTOM_ID = 512

/** The facts that a line is checked against. */
export interface LineRules {
  /** The path of the batch. */
  readonly endpoint: string
  readonly longestLine: number
  /** Whether no line before has this id. */
  isNew(customId: string): boolean
  /** Whether the batch's key may call the model. */
  mayCall(model: string): boolean
  /** Why a request to a model that it may call cannot have its prompt; undefined if it can. */
  promptMistake(body: JsonRecord & { readonly model: string }): GatewayError | undefined
}

export interface LineMistake {
  readonly code: string
  readonly message: string
  readonly param: string | null
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** The first mistake of a line; undefined if it is a request that can run. */
export function checkLine({ bytes, length }: Line, rules: LineRules): LineMistake | undefined {
  if (!bytes) {
    return mistake('line_too_long', `The line has ${length} bytes; at most ${rules.longestLine} are allowed.`)
  }
  let request: unknown
  try {
    boundJson(bytes, REQUEST_BOUNDS)
    request = JSON.parse(decoder.decode(bytes))
  } catch (error) {
    const message = error instanceof GatewayError ? error.message : 'The line is not valid JSON.'
    return mistake('invalid_json_line', message)
  }
  if (!isRecord(request)) return mistake('invalid_json_line', 'The line is not a JSON object.')
  return checkId(request, rules) ?? checkTarget(request, rules) ?? checkBody(request, rules)
}

function checkId({ custom_id: id }: JsonRecord, { isNew }: LineRules): LineMistake | undefined {
  if (id === undefined || id === null || id === '') return missing('custom_id')
  if (typeof id !== 'string') return mistake('invalid_custom_id', `'custom_id' must be a string.`, 'custom_id')
  if (id.length > LONGEST_CUSTOM_ID) {
    const message = `'custom_id' has ${id.length} characters; at most ${LONGEST_CUSTOM_ID} are allowed.`
    return mistake('invalid_custom_id', message, 'custom_id')
  }
  if (id.includes('\0') || !id.isWellFormed()) {
    return mistake('invalid_custom_id', `'custom_id' has invalid characters.`, 'custom_id')
  }
  if (!isNew(id)) return mistake('duplicate_custom_id', `A line before has the custom_id '${id}' too.`, 'custom_id')
  return undefined
}

function checkTarget({ method, url }: JsonRecord, { endpoint }: LineRules): LineMistake | undefined {
  if (method === undefined || method === null) return missing('method')
  if (method !== 'POST') return mistake('invalid_method', `'method' must be POST.`, 'method')
  if (url === undefined || url === null) return missing('url')
  if (url !== endpoint) return mistake('mismatched_endpoint', `'url' must be the batch's endpoint, ${endpoint}.`, 'url')
  return undefined
}

function checkBody(request: JsonRecord, { mayCall, promptMistake }: LineRules): LineMistake | undefined {
  const { body } = request
  if (body === undefined || body === null) return missing('body')
  if (!isRecord(body)) return mistake('invalid_body', `'body' must be an object.`, 'body')
  const { model, stream } = body
  if (stream !== undefined && stream !== null && stream !== false) {
    return mistake('stream_not_supported', 'Requests of a batch cannot be streamed. Leave it out.', 'body.stream')
  }
  if (asksForManagedTools(request)) {
    return mistake('managed_tools_not_supported', `Batches have no managed tools (type 'mcp').`, 'body.tools')
  }
  if (model === undefined || model === null || model === '') return missing('body.model')
  if (typeof model !== 'string') return mistake('invalid_model', `'body.model' must be a string.`, 'body.model')
  if (!mayCall(model)) {
    const message = `The model '${model.slice(0, 200)}' does not exist or you do not have access to it.`
    return mistake('model_not_found', message, 'body.model')
  }
  const wrong = promptMistake({ ...body, model })
  return wrong && mistake(wrong.code ?? 'invalid_prompt', wrong.message, `body.${wrong.details.param}`)
}

const mistake = (code: string, message: string, param: string | null = null): LineMistake => ({ code, message, param })

const missing = (param: string) => mistake('missing_required_parameter', `'${param}' is missing.`, param)
