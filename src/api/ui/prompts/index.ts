import type { Route } from '../../route.ts'
import { promptLabelRoutes } from './labels.ts'
import { prompts } from './prompts.ts'
import { promptRenderRoutes } from './render.ts'
import { promptVersionRoutes } from './versions.ts'

export const promptRoutes: readonly Route[] = [
  ...prompts,
  ...promptVersionRoutes,
  ...promptRenderRoutes,
  ...promptLabelRoutes,
]
