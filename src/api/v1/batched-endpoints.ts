import type { BatchEndpoints } from '../../batch/batch-endpoint.ts'
import { errorBody } from '../failures.ts'
import { chatCompletions } from './chat-completions.ts'
import { completions } from './completions.ts'
import { embeddings } from './embeddings.ts'
import { messages } from './messages.ts'
import { rerank } from './rerank.ts'
import { responses } from './responses.ts'

/** The endpoints whose requests can be batched. */
const BATCHED = [embeddings, chatCompletions, responses, completions, messages, rerank]

export const batchedEndpoints: BatchEndpoints = new Map(
  BATCHED.map(({ endpoint, contract }) => [
    endpoint.path,
    { endpoint, failureBody: (error, requestId) => contract.errorBody?.(error, requestId) ?? errorBody(error) },
  ]),
)
