import { api, type Input } from '../../data/client.ts'
import { refresh, useApi } from '../../data/query.ts'
import { useSession } from '../../data/session.ts'
import { Button } from '../../design/button.tsx'
import { confirmed } from '../../design/confirmed.ts'
import { Menu, type MenuItem } from '../../design/menu.tsx'
import { toast } from '../../design/toast.tsx'
import type { Person } from './person.ts'

interface Deed {
  readonly title: string
  readonly body: string
  readonly action: string
  readonly danger?: boolean
  readonly typed?: string
  readonly done: string
}

/** What administrators of the platform do with an account. */
export function AccountActions({ person, onGone }: { readonly person: Person; readonly onGone: () => void }) {
  const session = useSession()
  const { data: config } = useApi('GET /auth/config')
  const { account_id, email, state } = person
  const params = { account_id }
  const isAdmin = person.platform_role === 'platform_admin'
  const self = session.account_id === account_id ? ' This is your own account: you are signed out too.' : ''

  async function ask({ done, ...question }: Deed, work: () => Promise<unknown>): Promise<boolean> {
    if (!(await confirmed({ ...question, body: question.body + self }))) return false
    try {
      await work()
      toast(done)
      return true
    } catch (error) {
      toast((error as Error).message, { bad: true })
      return false
    } finally {
      await refresh('/ui/api/accounts')
    }
  }
  const change = (deed: Deed, body: Input<'PATCH /ui/api/accounts/{account_id}'>['body']) => () =>
    void ask(deed, () => api('PATCH /ui/api/accounts/{account_id}', { params, body }))

  const remove = async () => {
    const gone = await ask(
      {
        title: `Delete the account of ${email}?`,
        body: 'Its sessions end, its memberships are removed, and the keys that it owns are revoked at once. What was spent stays in the reports. This cannot be undone.',
        action: 'Delete',
        danger: true,
        typed: email,
        done: `The account of ${email} is deleted.`,
      },
      () => api('DELETE /ui/api/accounts/{account_id}', { params }),
    )
    if (gone) onGone()
  }
  const role = isAdmin
    ? change(
        {
          title: `Take the platform from ${email}?`,
          body: 'The person keeps the roles in organizations and teams, and signs in again.',
          action: 'Take it',
          danger: true,
          done: `${email} is no administrator of the platform any more.`,
        },
        { platform_role: 'org_user' },
      )
    : change(
        {
          title: `Make ${email} an administrator of the platform?`,
          body: 'The person may then do everything: keys, budgets, deployments and settings of every organization. They sign in again.',
          action: 'Make administrator',
          done: `${email} is an administrator of the platform.`,
        },
        { platform_role: 'platform_admin' },
      )
  const items: readonly (MenuItem | null | false)[] = [
    { label: isAdmin ? 'No longer platform admin' : 'Make platform admin', onSelect: role },
    !person.email_proved && {
      label: 'Confirm the address',
      onSelect: change(
        {
          title: `Confirm ${email}?`,
          body: 'Single sign-on then links whoever signs in with this address to the account.',
          action: 'Confirm',
          done: `${email} is confirmed.`,
        },
        { email_proved: true },
      ),
    },
    null,
    config?.email === true &&
      person.has_password && {
        label: 'Send a password reset',
        onSelect: () =>
          void ask(
            {
              title: `Send ${email} a link to a new password?`,
              body: 'The present password works until a new one is chosen.',
              action: 'Send',
              done: `A link is on its way to ${email}.`,
            },
            () => api('POST /auth/internal/forgot-password', { body: { email } }),
          ),
      },
    person.has_password &&
      !person.must_change_password && {
        label: 'Require a new password',
        onSelect: change(
          {
            title: `Require a new password of ${email}?`,
            body: 'At the next sign-in the person has to choose another one.',
            action: 'Require',
            done: `${email} has to choose a new password.`,
          },
          { must_change_password: true },
        ),
      },
    person.mfa_enabled && {
      label: 'Reset the second factor',
      onSelect: () =>
        void ask(
          {
            title: `Reset the second factor of ${email}?`,
            body: 'The authenticator and the recovery codes stop working, and all sessions end. Be sure who asked you for it.',
            action: 'Reset',
            danger: true,
            done: `${email} has no second factor any more.`,
          },
          () => api('POST /ui/api/accounts/{account_id}/reset-mfa', { params }),
        ),
    },
    {
      label: 'End all sessions',
      onSelect: () =>
        void ask(
          {
            title: `End all sessions of ${email}?`,
            body: 'The person signs in again in every browser. Keys go on working.',
            action: 'End them',
            done: `The sessions of ${email} have ended.`,
          },
          () => api('POST /ui/api/accounts/{account_id}/end-sessions', { params }),
        ),
    },
    null,
    { label: 'Delete the account', danger: true, onSelect: () => void remove() },
  ]
  return (
    <>
      {state === 'active' ? (
        <Button
          onClick={change(
            {
              title: `Disable ${email}?`,
              body: 'Sign-in is refused, the sessions end, and the keys that the person owns are refused until the account is enabled again.',
              action: 'Disable',
              danger: true,
              done: `${email} is disabled.`,
            },
            { state: 'disabled' },
          )}
        >
          Disable
        </Button>
      ) : (
        <Button
          onClick={change(
            {
              title: `Enable ${email}?`,
              body: 'Sign-in and the keys that the person owns work again.',
              action: 'Enable',
              done: `${email} is enabled.`,
            },
            { state: 'active' },
          )}
        >
          Enable
        </Button>
      )}
      <Menu label="More" class="button" items={items.filter((item) => item !== false)}>
        More
      </Menu>
    </>
  )
}
