import type { Route } from '../../route.ts'
import { batchEmbedContents, embedContent } from './embed-content.ts'
import { countTokens, generateContent, streamGenerateContent } from './generate-content.ts'
import { getGeminiModel, listGeminiModels } from './models.ts'

/** Gemini's API. */
export const geminiRoutes: readonly Route[] = [
  listGeminiModels,
  getGeminiModel,
  generateContent,
  streamGenerateContent,
  countTokens,
  embedContent,
  batchEmbedContents,
]
