import type { Endpoint } from '../../pipeline/endpoint.ts'
import { audioSpeech } from './audio-speech.ts'
import { audioTranscriptions } from './audio-transcriptions.ts'
import { chatCompletions } from './chat-completions.ts'
import { completions } from './completions.ts'
import { embeddings } from './embeddings.ts'
import { imagesGenerations } from './images-generations.ts'
import { moderations } from './moderations.ts'
import { rerank } from './rerank.ts'

/** One endpoint for each kind of request, the commonest first. */
export const MODEL_ENDPOINTS: readonly Endpoint[] = [
  chatCompletions,
  completions,
  embeddings,
  imagesGenerations,
  audioSpeech,
  audioTranscriptions,
  rerank,
  moderations,
].map(({ endpoint }) => endpoint)
