import { joinBytes } from '../../lib/bytes/bytes.ts'
import { GatewayError } from '../../lib/errors.ts'
import { editJson } from '../../lib/json/edit-json.ts'
import { isRecord } from '../../lib/json/lenient.ts'
import { writtenMembers } from '../../lib/json/written-json.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import type { Prompt } from '../../routing/prompts/prompt.ts'
import { readPromptRef, versionMeant } from '../../routing/prompts/prompt-ref.ts'
import type { RenderedMessage, Template } from '../../routing/prompts/template.ts'
import { textsOf } from '../../routing/prompts/variables.ts'
import type { Registry } from '../../routing/registry.ts'
import type { PromptResolved } from '../../telemetry/events.ts'
import type { CallInput } from '../call-input.ts'
import { notReadYet } from '../plan/model-not-found.ts'
import type { Refusal } from '../request/checked.ts'
import { parse } from '../request/parse.ts'
import type { Written } from '../request/written-request.ts'
import type { PipelineServices } from '../services.ts'
import type { Dialect } from '../translate/dialect.ts'

/** A request with the messages of a prompt before its own, or why it cannot have them. */
export type Prompted = (Written & { readonly prompt: string; readonly error?: never }) | Refusal

export const REF = 'metadata.prompt_ref'
export const VARIABLES = 'metadata.prompt_variables'
export const NO_PROMPT = 'need a prompt, and neither the call nor its group names one'
export const WRONG_ENDPOINT = 'prompts are for chat, completions, responses and messages'

/** Renders the prompt that a call names in `metadata.prompt_ref`, or else that of its group's policy, into the request.
 *  undefined for a call without one. A promise only for a version that this process has not read yet. `again`: the
 *  prompt was reported when the call was admitted before. */
export function withPrompt(
  services: PipelineServices,
  input: Input,
  written: Written,
  again = false,
): Prompted | Promise<Prompted> | undefined {
  const { request } = written
  const { dialect } = input.endpoint
  const ref = request.metadata?.prompt_ref ?? (dialect && services.registry.resolve(request.model)?.policy?.promptRef)
  if (ref === undefined || ref === null) {
    if (!dialect || isNothing(request.metadata?.prompt_variables)) return undefined
    return { error: refusal(VARIABLES, NO_PROMPT) }
  }
  // A function of its own, so that a call without a prompt does not allocate the context of its closures.
  return resolved(services, input, written, { ref: String(ref), again })
}

type Input = Pick<CallInput, 'endpoint' | 'footprint'>

function resolved(
  services: PipelineServices,
  input: Input,
  written: Written,
  { ref, again }: { readonly ref: string; readonly again: boolean },
): Prompted | Promise<Prompted> {
  const { request } = written
  const { dialect } = input.endpoint
  if (!dialect) {
    return { error: refusal(REF, WRONG_ENDPOINT, 'unsupported_parameter') }
  }
  const startedAt = performance.now()
  const done = (prompted: Prompted, prompt: string, status: PromptResolved['status']): Prompted => {
    const seconds = (performance.now() - startedAt) / 1000
    if (!again) services.telemetry.emit({ type: 'prompt.resolved', prompt, status, seconds })
    return prompted
  }
  const found = findPrompt(services.registry, ref)
  const policyOf = request.metadata?.prompt_ref === ref ? undefined : request.model
  const notFound = () => done({ error: promptNotFound(ref, policyOf) }, found?.prompt.key ?? '', 'not_found')
  if (!found) return services.registry.unread ? done({ error: notReadYet() }, '', 'failed') : notFound()
  const { prompt, version } = found
  const finish = (template: Template | undefined): Prompted => {
    if (!template) return notFound()
    const { texts, error } = textsFor(template, request.metadata?.prompt_variables)
    if (error) return done({ error }, prompt.key, 'invalid_variables')
    if (template.length(texts) > services.config.general_settings.max_json_bytes) {
      return done({ error: tooLarge() }, prompt.key, 'invalid_variables')
    }
    const prompted = rendered(input, written, {
      dialect,
      messages: template.render(texts),
      name: `${prompt.key}@${version}`,
    })
    return done(prompted, prompt.key, prompted.error ? 'failed' : 'ok')
  }
  const template = prompt.versions.get(version) ?? services.promptVersions.held(prompt, version)
  if (template) return finish(template)
  return services.promptVersions.load(prompt, version).then(finish, (cause: unknown) => {
    const message = `The prompt '${prompt.key}@${version}' cannot be read now. Try again.`
    const error = new GatewayError('database_unavailable', message, { retryAfterSeconds: 1, cause })
    return done({ error }, prompt.key, 'failed')
  })
}

export function findPrompt(
  { prompts }: Pick<Registry, 'prompts'>,
  text: string,
): { readonly prompt: Prompt; readonly version: number } | undefined {
  const ref = readPromptRef(text)
  const prompt = ref && prompts.get(ref.key)
  const version = prompt && versionMeant(prompt, ref)
  return prompt && version !== undefined ? { prompt, version } : undefined
}

/** The texts of a template's variables, from the values of a call. */
export function textsFor({ variables }: Template, given: unknown) {
  const { texts, mistake } = textsOf(variables, isRecord(given) ? given : {})
  if (!mistake) return { texts }
  return { error: refusal(`${VARIABLES}.${mistake.name.slice(0, 200)}`, mistake.message) }
}

/** The request as it is sent: every byte of the client's that is not `metadata` stays as it is. */
function rendered(
  { endpoint, footprint }: Input,
  { request, bytes }: Written,
  prompt: { readonly dialect: Dialect; readonly messages: readonly RenderedMessage[]; readonly name: string },
): Prompted {
  try {
    const own = writtenMembers(bytes, request)
    const changes = { ...prompt.dialect.prepend(prompt.messages, own), ...metadataOf(request) }
    const whole = joinBytes(editJson(bytes, request, changes))
    footprint.add(whole.byteLength)
    const parsed = parse({ endpoint, bytes: whole })
    return parsed.error ? parsed : { request: parsed.request, bytes: whole, prompt: prompt.name }
  } catch (error) {
    if (error instanceof GatewayError) return { error }
    throw error
  }
}

/** The metadata without the fields about prompts, which are the gateway's own. */
function metadataOf({ metadata }: ModelRequest): { readonly metadata?: unknown } {
  if (!metadata || !('prompt_ref' in metadata || 'prompt_variables' in metadata)) return {}
  const { prompt_ref: _ref, prompt_variables: _variables, ...rest } = metadata
  return { metadata: Object.keys(rest).length === 0 ? undefined : rest }
}

const isNothing = (value: unknown) => value === undefined || value === null

export function refusal(param: string, message: string, code = 'invalid_prompt_variables'): GatewayError {
  return new GatewayError('invalid_request', `${param}: ${message}`, { param, code })
}

/** `policyOf`: the group whose policy names the prompt, where the call does not. */
export function promptNotFound(ref: string, policyOf: string | undefined): GatewayError {
  const whose = policyOf === undefined ? '' : `, which the policy of '${policyOf}' names,`
  const message = `There is no prompt '${ref.slice(0, 200)}'${whose} or it is archived.`
  return new GatewayError('invalid_request', message, { param: REF, code: 'prompt_not_found' })
}

function tooLarge(): GatewayError {
  const message = `${VARIABLES}: the prompt with these values is larger than a request may be.`
  return new GatewayError('payload_too_large', message, { param: VARIABLES })
}
