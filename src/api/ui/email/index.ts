import type { Route } from '../../route.ts'
import { outboxList } from './outbox.ts'
import { testEmail } from './test-email.ts'

export const emailRoutes: readonly Route[] = [outboxList, testEmail]
