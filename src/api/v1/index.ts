import type { Route } from '../route.ts'
import { audioSpeech } from './audio-speech.ts'
import { audioTranscriptions } from './audio-transcriptions.ts'
import { audioTranslations } from './audio-translations.ts'
import { batches } from './batches/index.ts'
import { chatCompletions } from './chat-completions.ts'
import { cohereChat, cohereEmbed } from './cohere.ts'
import { completions } from './completions.ts'
import { speechToText, textToSpeech, textToSpeechStream } from './elevenlabs.ts'
import { embeddings } from './embeddings.ts'
import { fileRoutes } from './files/index.ts'
import { geminiRoutes } from './gemini/index.ts'
import { imagesEdits, imagesVariations } from './images-edits.ts'
import { imagesGenerations } from './images-generations.ts'
import { countTokens, messages } from './messages.ts'
import { getModel, listModels } from './models.ts'
import { moderations } from './moderations.ts'
import { rerank } from './rerank.ts'
import { responseRoutes } from './responses/index.ts'

export const v1: readonly Route[] = [
  listModels,
  getModel,
  chatCompletions,
  messages,
  countTokens,
  ...responseRoutes,
  completions,
  embeddings,
  imagesGenerations,
  imagesEdits,
  imagesVariations,
  audioSpeech,
  audioTranscriptions,
  audioTranslations,
  moderations,
  textToSpeech,
  textToSpeechStream,
  speechToText,
  rerank,
  cohereChat,
  cohereEmbed,
  ...geminiRoutes,
  ...batches,
  ...fileRoutes,
]
