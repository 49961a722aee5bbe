import { useState } from 'preact/hooks'
import { refresh, useApi } from '../../data/query.ts'
import { useSession } from '../../data/session.ts'
import { Button } from '../../design/button.tsx'
import { performed } from '../../design/confirmed.ts'
import { Menu } from '../../design/menu.tsx'
import { type AccountAction, accountActions } from './account-action.ts'
import { AddressDialog } from './address-dialog.tsx'
import { ResetLinkDialog } from './links-dialog.tsx'
import type { Person } from './person.ts'

/** What administrators of the platform do with an account. */
export function AccountActions({ person, onGone }: { readonly person: Person; readonly onGone: () => void }) {
  const session = useSession()
  const { data: config } = useApi('GET /auth/config')
  const [link, setLink] = useState<string>()
  const [readdressing, setReaddressing] = useState(false)
  const actions = accountActions(person)
  const toggle = person.state === 'active' ? actions.disable : actions.enable
  const own = session.account_id === person.account_id ? ' This is your own account: you are signed out too.' : ''

  const perform = ({ run, ...question }: AccountAction) =>
    performed({ ...question, body: question.body + own }, () => run().finally(() => refresh('/ui/api/accounts')))
  const item = (action: AccountAction) => ({ label: action.label, onSelect: () => void perform(action) })
  const makeReset = () =>
    perform({ ...actions.makeReset, run: () => actions.makeReset.run().then(({ link: made }) => setLink(made)) })
  const remove = async () => {
    if (await perform(actions.remove)) onGone()
  }

  return (
    <>
      <Button onClick={() => void perform(toggle)}>{toggle.label}</Button>
      <Menu
        label="More"
        class="button"
        items={[
          item(person.platform_role === 'platform_admin' ? actions.demote : actions.promote),
          { label: 'Change the address', onSelect: () => setReaddressing(true) },
          ...(person.email_proved ? [] : [item(actions.confirmAddress)]),
          null,
          ...(person.has_password && person.state === 'active' && config
            ? [config.email ? item(actions.sendReset) : { label: actions.makeReset.label, onSelect: makeReset }]
            : []),
          ...(person.has_password && !person.must_change_password ? [item(actions.requirePassword)] : []),
          ...(person.mfa_enabled ? [item(actions.resetFactor)] : []),
          item(actions.endSessions),
          null,
          { label: actions.remove.label, danger: true, onSelect: () => void remove() },
        ]}
      >
        More
      </Menu>
      {readdressing && <AddressDialog person={person} onClose={() => setReaddressing(false)} />}
      {link && <ResetLinkDialog email={person.email} link={link} onClose={() => setLink(undefined)} />}
    </>
  )
}
