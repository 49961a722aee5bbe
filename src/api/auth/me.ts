import * as z from 'zod'
import { json } from '../respond.ts'
import { defineRoute } from '../route.ts'
import { answerOf, sessionAnswer } from './session-answer.ts'

export const me = defineRoute(
  {
    method: 'get',
    path: '/auth/me',
    summary: 'The signed-in person and their permissions. Also answers without a session.',
    tag: 'Accounts',
    auth: 'public',
    takesSession: true,
    responses: {
      200: {
        description: 'The session, or that there is none.',
        schema: () => z.union([sessionAnswer(), z.object({ authenticated: z.literal(false) })]),
      },
    },
  },
  (scope) => {
    const session = scope.session()
    return json(session ? answerOf(session) : { authenticated: false })
  },
)
