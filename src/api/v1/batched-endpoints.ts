import type { BatchEndpoints } from '../../batch/batch-endpoint.ts'
import { errorBody } from '../failures.ts'
import { chatCompletions } from './chat-completions.ts'
import { completions } from './completions.ts'
import { embeddings } from './embeddings.ts'
import { messages } from './messages.ts'
import { rerank } from './rerank.ts'
import { createResponse } from './responses/create-response.ts'

/** The endpoints whose requests can be batched. */
const BATCHED = [embeddings, chatCompletions, createResponse, completions, messages, rerank]

const NO_HEADERS = () => undefined

export const batchedEndpoints: BatchEndpoints = new Map(
  BATCHED.map(({ endpoint, contract }) => [
    endpoint.path,
    {
      endpoint,
      failureBody: (error, requestId) => contract.errorBody?.(error, requestId, NO_HEADERS) ?? errorBody(error),
    },
  ]),
)
