import { defineRoute, type Route } from '../../route.ts'
import { audioSpeech } from '../../v1/audio-speech.ts'
import { audioTranscriptions } from '../../v1/audio-transcriptions.ts'
import { audioTranslations } from '../../v1/audio-translations.ts'
import { chatCompletions } from '../../v1/chat-completions.ts'
import { completions } from '../../v1/completions.ts'
import { embeddings } from '../../v1/embeddings.ts'
import { imagesEdits } from '../../v1/images-edits.ts'
import { imagesGenerations } from '../../v1/images-generations.ts'
import { messages } from '../../v1/messages.ts'
import { type ModelRoute, runModelCall } from '../../v1/model-route.ts'
import { moderations } from '../../v1/moderations.ts'
import { rerank } from '../../v1/rerank.ts'
import { createResponse } from '../../v1/responses/create-response.ts'
import { asUnusableKey, callerOfKey, keyQuery } from './caller-of-key.ts'

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
      query: keyQuery,
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
  createResponse,
  completions,
  embeddings,
  imagesGenerations,
  imagesEdits,
  audioSpeech,
  audioTranscriptions,
  audioTranslations,
  rerank,
  moderations,
].map(playgroundOf)
