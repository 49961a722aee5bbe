import type { Route } from '../route.ts'
import { audioSpeech } from './audio-speech.ts'
import { audioTranscriptions } from './audio-transcriptions.ts'
import { batches } from './batches/index.ts'
import { chatCompletions } from './chat-completions.ts'
import { completions } from './completions.ts'
import { embeddings } from './embeddings.ts'
import { fileRoutes } from './files/index.ts'
import { imagesGenerations } from './images-generations.ts'
import { countTokens, messages } from './messages.ts'
import { getModel, listModels } from './models.ts'
import { rerankRoutes } from './rerank.ts'
import { responses } from './responses.ts'

export const v1: readonly Route[] = [
  listModels,
  getModel,
  chatCompletions,
  messages,
  countTokens,
  responses,
  completions,
  embeddings,
  imagesGenerations,
  audioSpeech,
  audioTranscriptions,
  ...rerankRoutes,
  ...batches,
  ...fileRoutes,
]
