import type { Route } from '../route.ts'
import { chatCompletions } from './chat-completions.ts'
import { getModel, listModels } from './models.ts'

export const v1: readonly Route[] = [listModels, getModel, chatCompletions]
