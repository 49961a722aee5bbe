import * as z from 'zod'
import { embedding } from '../../../modes/embedding.ts'
import { asMode } from '../../../modes/mode.ts'
import {
  asBatchEmbedContents,
  asEmbedContent,
  EMBEDDING_HINTS,
  manyEmbeddings,
  oneEmbedding,
} from '../../dialects/gemini/embeddings.ts'
import { geminiErrorEvent } from '../../dialects/gemini/errors.ts'
import { runModelCall } from '../model-route.ts'
import { geminiRoute, methodPath } from './gemini-route.ts'

const common = {
  mode: asMode(embedding),
  errorEvent: geminiErrorEvent,
  cached: 'inputs',
  hints: EMBEDDING_HINTS,
} as const
const one = { ...common, path: methodPath('embedContent'), written: asEmbedContent }
const many = { ...common, path: methodPath('batchEmbedContents'), written: asBatchEmbedContents }

const text = () =>
  z.looseObject({
    content: z.looseObject({ parts: z.array(z.looseObject({ text: z.string() })).min(1) }),
    taskType: z.string().nullish(),
    title: z.string().nullish(),
    outputDimensionality: z.int().min(1).nullish(),
  })

export const embedContent = geminiRoute(
  one,
  'embedContent',
  {
    summary: "Turn a text into a vector in the shape of Gemini's API.",
    schema: text,
    response: { description: '`embedding`', contentType: 'application/json' },
  },
  (scope, model) => runModelCall(scope, one, scope.caller(), { edit: (body) => oneEmbedding(body, model) }),
)

export const batchEmbedContents = geminiRoute(
  many,
  'batchEmbedContents',
  {
    summary: "Turn texts into vectors in the shape of Gemini's API.",
    schema: () => z.looseObject({ requests: z.array(text()).min(1) }),
    response: { description: '`embeddings`, in the order of the requests', contentType: 'application/json' },
  },
  (scope, model) => runModelCall(scope, many, scope.caller(), { edit: (body) => manyEmbeddings(body, model) }),
)
