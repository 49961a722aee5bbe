import * as z from 'zod'
import { missingPermission, reachWithOwn } from '../../../identity/grants.ts'
import { asGatewayError, GatewayError } from '../../../lib/errors.ts'
import type { Caller } from '../../../pipeline/caller.ts'
import { defineRoute, type Route } from '../../route.ts'
import type { Scope } from '../../scope.ts'
import { audioSpeech } from '../../v1/audio-speech.ts'
import { audioTranscriptions } from '../../v1/audio-transcriptions.ts'
import { chatCompletions } from '../../v1/chat-completions.ts'
import { completions } from '../../v1/completions.ts'
import { embeddings } from '../../v1/embeddings.ts'
import { imagesGenerations } from '../../v1/images-generations.ts'
import { messages } from '../../v1/messages.ts'
import { type ModelRoute, runModelCall } from '../../v1/model-route.ts'
import { rerank } from '../../v1/rerank.ts'
import { responses } from '../../v1/responses.ts'
import { storable } from '../storable.ts'

/** An endpoint for people: they call as a key of theirs, or as one that they may change. It is a call of that key like any
 *  other, with its limits, its budget, its access and its line in the ledger. */
function playgroundOf({ endpoint, contract }: ModelRoute): Route {
  const { summary, responses: answers, body } = contract
  return defineRoute(
    {
      method: 'post',
      path: endpoint.path.replace('/v1', '/ui/api/playground'),
      summary: `As a key that the caller may use: ${summary.charAt(0).toLowerCase()}${summary.slice(1)}`,
      tag: 'Models',
      auth: 'admin',
      permission: 'key.update',
      scoped: 'own',
      modelCall: true,
      action: 'playground.call',
      query: () => z.object({ key_id: storable().min(1).max(256).describe('The key that calls.') }),
      responses: answers,
      ...(body ? { body } : {}),
    },
    async (scope) => {
      const { key_id: keyId } = scope.input.query
      scope.audits({ resource_id: keyId, metadata: { endpoint: endpoint.path } })
      const caller = await callerOfKey(scope, keyId)
      try {
        return await runModelCall(scope, endpoint, caller)
      } catch (error) {
        throw asUnusableKey(error)
      }
    },
  )
}

export const playground: readonly Route[] = [
  chatCompletions,
  messages,
  responses,
  completions,
  embeddings,
  imagesGenerations,
  audioSpeech,
  audioTranscriptions,
  rerank,
].map(playgroundOf)

async function callerOfKey(scope: Scope, keyId: string): Promise<Caller> {
  const { records, keyCallers } = scope.services
  const { keys } = records
  const caller = scope.caller()
  if (!(await keys.find(keyId, reachWithOwn(caller, 'key.update')))) {
    if (await keys.find(keyId, reachWithOwn(caller, 'key.read'))) throw missingPermission('key.update')
    throw new GatewayError('not_found', 'There is no such key.', { param: 'key_id' })
  }
  try {
    return await keyCallers.find(keyId, scope.address)
  } catch (error) {
    throw asUnusableKey(error)
  }
}

/** The session is valid; it is the key that is not. */
function asUnusableKey(thrown: unknown): GatewayError {
  const error = asGatewayError(thrown)
  if (error.failure !== 'authentication') return error
  const [code, why] =
    error.code === 'expired_api_key'
      ? ['key_expired', 'has expired']
      : ['key_revoked', 'is revoked, or its owner disabled']
  return new GatewayError('conflict', `This key ${why}. Call as another one.`, { param: 'key_id', code })
}
