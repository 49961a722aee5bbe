import { api, type Input } from '../../data/client.ts'
import type { Question } from '../../design/confirmed.ts'
import type { Person } from './person.ts'

/** An action of platform admins on an account, with the question before it. */
export interface AccountAction extends Question {
  readonly label: string
  readonly body: string
  /** What is said when it is done. */
  readonly done: string
  readonly run: () => Promise<unknown>
}

export function accountActions({ account_id, email }: Person) {
  const params = { account_id }
  const change = (body: Input<'PATCH /ui/api/accounts/{account_id}'>['body']) => () =>
    api('PATCH /ui/api/accounts/{account_id}', { params, body })
  return {
    disable: {
      label: 'Disable',
      title: `Disable ${email}?`,
      body: 'Sign-in is refused, the sessions end, and the keys that the person owns are refused until the account is enabled again.',
      action: 'Disable',
      danger: true,
      done: `${email} is disabled.`,
      run: change({ state: 'disabled' }),
    },
    enable: {
      label: 'Enable',
      title: `Enable ${email}?`,
      body: 'Sign-in and the keys that the person owns work again.',
      action: 'Enable',
      done: `${email} is enabled.`,
      run: change({ state: 'active' }),
    },
    demote: {
      label: 'No longer platform admin',
      title: `Take the platform from ${email}?`,
      body: 'The person keeps the roles in organizations and teams, and signs in again.',
      action: 'Take it',
      danger: true,
      done: `${email} is no administrator of the platform any more.`,
      run: change({ platform_role: 'org_user' }),
    },
    promote: {
      label: 'Make platform admin',
      title: `Make ${email} an administrator of the platform?`,
      body: 'The person may then do everything: keys, budgets, deployments and settings of every organization. They sign in again.',
      action: 'Make administrator',
      done: `${email} is an administrator of the platform.`,
      run: change({ platform_role: 'platform_admin' }),
    },
    confirmAddress: {
      label: 'Confirm the address',
      title: `Confirm ${email}?`,
      body: 'Single sign-on then links a person who signs in with this address to this account.',
      action: 'Confirm',
      done: `${email} is confirmed.`,
      run: change({ email_proved: true }),
    },
    sendReset: {
      label: 'Send a password reset',
      title: `Send ${email} a link to a new password?`,
      body: 'The present password works until a new one is chosen.',
      action: 'Send',
      done: `A link is on its way to ${email}.`,
      run: () => api('POST /auth/internal/forgot-password', { body: { email } }),
    },
    makeReset: {
      label: 'Make a link to a new password',
      title: `Make a link to a new password for ${email}?`,
      body: 'The gateway sends no e-mail: you pass the link on. All sessions of the person end.',
      action: 'Make it',
      done: 'The link is made.',
      run: () => api('POST /ui/api/accounts/{account_id}/reset-password', { params }),
    },
    requirePassword: {
      label: 'Require a new password',
      title: `Require a new password of ${email}?`,
      body: 'At the next sign-in the person has to choose another one.',
      action: 'Require',
      done: `${email} has to choose a new password.`,
      run: change({ must_change_password: true }),
    },
    resetFactor: {
      label: 'Reset the second factor',
      title: `Reset the second factor of ${email}?`,
      body: 'The authenticator and the recovery codes stop working, and all sessions end. Check first that the request is genuine.',
      action: 'Reset',
      danger: true,
      done: `${email} has no second factor any more.`,
      run: () => api('POST /ui/api/accounts/{account_id}/reset-mfa', { params }),
    },
    endSessions: {
      label: 'End all sessions',
      title: `End all sessions of ${email}?`,
      body: 'The person signs in again in every browser. Keys go on working.',
      action: 'End them',
      done: `The sessions of ${email} have ended.`,
      run: () => api('POST /ui/api/accounts/{account_id}/end-sessions', { params }),
    },
    remove: {
      label: 'Delete the account',
      title: `Delete the account of ${email}?`,
      body: 'Its sessions end, its memberships are removed, and the keys that it owns are revoked at once. What was spent stays in the reports. This cannot be undone.',
      action: 'Delete',
      danger: true,
      typed: email,
      done: `The account of ${email} is deleted.`,
      run: () => api('DELETE /ui/api/accounts/{account_id}', { params }),
    },
  } as const satisfies Readonly<Record<string, AccountAction>>
}
