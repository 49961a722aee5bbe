import type { Route } from '../../route.ts'
import { cancelResponse } from './cancel-response.ts'
import { compactResponse } from './compact-response.ts'
import { createResponse } from './create-response.ts'
import { deleteResponse } from './delete-response.ts'
import { getResponse } from './get-response.ts'
import { inputTokens } from './input-tokens.ts'
import { listInputItems } from './list-input-items.ts'

export const responseRoutes: readonly Route[] = [
  createResponse,
  inputTokens,
  compactResponse,
  getResponse,
  deleteResponse,
  listInputItems,
  cancelResponse,
]
