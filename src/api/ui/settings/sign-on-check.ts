import * as z from 'zod'
import { SignOnProblem } from '../../../identity/single-sign-on/problem.ts'
import { lazily } from '../../../lib/lazily.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'

const url = () => z.string().nullable()
const answer = lazily(() =>
  z.object({
    configured: z.boolean().describe('Whether people can sign in so; without it nothing was asked.'),
    label: z.string().nullable(),
    redirect_uri: z.string().nullable().describe('The address that the provider must allow.'),
    provider: z
      .object({
        issuer: url(),
        authorization_endpoint: z.string(),
        token_endpoint: z.string(),
        userinfo_endpoint: url(),
        keys: z.int().nullable().describe('With how many keys it signs; null: its tokens are not checked against any.'),
      })
      .nullable()
      .describe('What the provider says of itself; null where it could not be asked.'),
    problem: z.object({ code: z.string(), reason: z.string() }).nullable(),
  }),
)

export const signOnCheck = defineRoute(
  {
    method: 'post',
    path: '/ui/api/sso/check',
    summary: 'Asks the identity provider for its addresses and keys, as a first login would.',
    tag: 'Accounts',
    auth: 'admin',
    permission: 'platform.admin',
    action: 'sso.check',
    responses: { 200: { description: 'What was found.', schema: answer } },
  },
  async (scope) => {
    const { singleSignOn } = scope.services
    scope.audits({ resource_id: null })
    const offer = singleSignOn.offer()
    const known = { configured: offer !== null, label: offer?.label ?? null, redirect_uri: singleSignOn.redirectUri }
    if (!offer) return json({ ...known, provider: null, problem: null })
    try {
      return json({ ...known, provider: await singleSignOn.check(), problem: null })
    } catch (error) {
      if (!(error instanceof SignOnProblem)) throw error
      return json({ ...known, provider: null, problem: { code: error.code, reason: error.reason } })
    }
  },
)
