import type { Route } from '../route.ts'
import { models } from './models.ts'

/** The API of the administration. */
export const ui: readonly Route[] = [...models]
