import { anthropic } from './anthropic/index.ts'
import { azure } from './azure/index.ts'
import { bedrock } from './bedrock/index.ts'
import { cohere } from './cohere/index.ts'
import { deepgram } from './deepgram/index.ts'
import { echo } from './echo/index.ts'
import { elevenlabs } from './elevenlabs/index.ts'
import { gemini } from './gemini/index.ts'
import { jina } from './jina/index.ts'
import { OPENAI_VENDORS } from './openai/vendors.ts'
import { openaiCompatible } from './openai-compatible/index.ts'
import type { Provider } from './provider.ts'
import { vertex } from './vertex/index.ts'
import { voyage } from './voyage/index.ts'

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

/** The providers of this build, by kind. */
export const providers: ReadonlyMap<string, Provider> = new Map(list.map((provider) => [provider.kind, provider]))
