import { anthropic } from './anthropic.ts'
import { azure } from './azure.ts'
import { bedrock } from './bedrock.ts'
import { cohere } from './cohere.ts'
import { deepgram } from './deepgram.ts'
import { echo } from './echo.ts'
import { elevenlabs } from './elevenlabs.ts'
import { gemini } from './gemini.ts'
import { jina } from './jina.ts'
import { openaiCompatible } from './openai-compatible.ts'
import { OPENAI_VENDORS } from './openai-vendors.ts'
import type { Provider } from './provider.ts'
import { vertex } from './vertex.ts'
import { voyage } from './voyage.ts'

const list: readonly Provider[] = [
  echo,
  anthropic,
  azure,
  elevenlabs,
  deepgram,
  ...Object.entries(OPENAI_VENDORS).map(([kind, vendor]) => openaiCompatible(kind, vendor)),
  bedrock,
  cohere,
  voyage,
  jina,
  gemini,
  vertex,
]

/** Every provider kind that this build can speak to. */
export const providers: ReadonlyMap<string, Provider> = new Map(list.map((provider) => [provider.kind, provider]))
