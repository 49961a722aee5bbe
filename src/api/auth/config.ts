import * as z from 'zod'
import { lazily } from '../../lib/lazily.ts'
import { json } from '../respond.ts'
import { defineRoute } from '../route.ts'

const answer = lazily(() =>
  z.object({
    password: z.boolean().describe('People can sign in with a password.'),
    sso: z
      .object({ kind: z.string(), label: z.string() })
      .nullable()
      .describe('The identity provider, if there is one.'),
    self_registration: z.boolean(),
    email: z.boolean().describe('E-mail is sent, so that a forgotten password can be reset.'),
    email_from: z.string().nullable().describe('The sender of those e-mails.'),
    first_run: z.boolean().describe('There is no account yet; POST /auth/bootstrap creates the first.'),
  }),
)

export const authConfig = defineRoute(
  {
    method: 'get',
    path: '/auth/config',
    summary: 'The sign-in options that a login page can offer.',
    tag: 'Accounts',
    auth: 'public',
    responses: { 200: { description: 'The ways to sign in.', schema: answer } },
  },
  async ({ services }) => {
    const { firstAdmin, outbox, config, singleSignOn } = services
    await firstAdmin.ensure()
    return json({
      password: true,
      sso: singleSignOn.offer(),
      self_registration: config.general_settings.self_registration.enabled,
      email: outbox.enabled,
      email_from: outbox.enabled ? (config.general_settings.email_from ?? null) : null,
      first_run: await firstAdmin.isMissing(),
    })
  },
)
