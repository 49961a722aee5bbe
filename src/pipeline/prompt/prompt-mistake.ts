import type { GatewayError } from '../../lib/errors.ts'
import { asRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { Registry } from '../../routing/registry.ts'
import {
  findPrompt,
  NO_PROMPT,
  promptNotFound,
  REF,
  refusal,
  textsFor,
  VARIABLES,
  WRONG_ENDPOINT,
} from './with-prompt.ts'

/** Why a request could not have the prompt that it or its group names, as far as that is known before it runs. The
 *  variables of a version that is not at hand are checked only then. */
export function promptMistake(
  registry: Registry,
  request: JsonRecord & { readonly model: string },
  hasDialect: boolean,
): GatewayError | undefined {
  const { prompt_ref: own, prompt_variables: given } = asRecord(request.metadata)
  const ref = own ?? (hasDialect ? registry.resolve(request.model)?.policy?.promptRef : undefined)
  if (ref === undefined) {
    return hasDialect && given !== undefined && given !== null ? refusal(VARIABLES, NO_PROMPT) : undefined
  }
  if (typeof ref !== 'string') return refusal(REF, 'must be a string')
  if (!hasDialect) return refusal(REF, WRONG_ENDPOINT, 'unsupported_parameter')
  const found = findPrompt(registry, ref)
  if (!found) return promptNotFound(ref, own === ref ? undefined : request.model)
  const template = found.prompt.versions.get(found.version)
  return template && textsFor(template, given).error
}
