import type { Route } from '../../route.ts'
import { callbackList } from './callback-list.ts'
import { testCallback } from './test-callback.ts'

export const callbackRoutes: readonly Route[] = [callbackList, testCallback]
