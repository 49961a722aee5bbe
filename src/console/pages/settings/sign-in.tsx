import { useChange } from '../../data/change.ts'
import type { Answer } from '../../data/client.ts'
import { useParams } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { useMay } from '../../data/session.ts'
import { State } from '../../design/badge.tsx'
import { Button, CopyButton } from '../../design/button.tsx'
import { Facts, Section } from '../../design/page.tsx'
import { Failure, Loaded, Notice } from '../../design/states.tsx'
import { Table } from '../../design/table.tsx'
import { COLUMNS } from './config-keys.tsx'

/** What decides how people come in. */
const ABOUT = /^general_settings\.(?:.*sso|self_registration|require_mfa|session|max_failed)/

/** How people sign in, and whether the identity provider answers as a login needs it. */
export function SignIn() {
  const params = useParams()
  const may = useMay()
  const read = useApi('GET /ui/api/config')
  return (
    <>
      {may('platform.admin') && <Check />}
      <Section title="Settings of signing in">
        <Loaded of={read}>
          {({ data }) => (
            <Table
              name="settings"
              label="Settings of signing in"
              columns={COLUMNS}
              rows={data.filter(({ key }) => ABOUT.test(key))}
              rowId={({ key }) => key}
              href={({ key }) => params.with({ tab: undefined, open: key })}
            />
          )}
        </Loaded>
      </Section>
    </>
  )
}

function Check() {
  const ways = useApi('GET /auth/config')
  const check = useChange('POST /ui/api/sso/check')
  const label = ways.data?.sso?.label
  if (ways.data && !ways.data.sso) {
    return (
      <p class="quiet">
        People sign in with a password. Single sign-on is off. To switch it on, set{' '}
        <span class="mono">general_settings.enable_sso</span>.
      </p>
    )
  }
  return (
    <Section
      title={`Single sign-on${label ? `: ${label}` : ''}`}
      actions={
        <Button small busy={check.isPending} onClick={() => check.mutate({})}>
          Check
        </Button>
      }
    >
      {check.error && <Failure error={check.error} />}
      {check.data ? (
        <Found of={check.data} />
      ) : (
        <p class="quiet">
          The check asks the provider for its addresses and keys, as a first login does. Nobody signs in.
        </p>
      )}
    </Section>
  )
}

function Found({
  of: { provider, problem, redirect_uri: redirect },
}: {
  readonly of: Answer<'POST /ui/api/sso/check'>
}) {
  const address = (url: string | null) => (url === null ? undefined : <span class="mono">{url}</span>)
  return (
    <>
      {problem && (
        <Notice tone="bad">
          The provider could not be asked: {problem.reason} ({problem.code.replaceAll('_', ' ')}).
        </Notice>
      )}
      <Facts
        of={[
          ['State', provider ? <State tone="ok">answers</State> : undefined],
          [
            'It must allow this address',
            redirect && (
              <span class="row">
                <span class="mono">{redirect}</span> <CopyButton text={redirect} label="Copy the redirect address" />
              </span>
            ),
          ],
          ['Issuer', address(provider?.issuer ?? null)],
          ['People sign in at', address(provider?.authorization_endpoint ?? null)],
          ['Tokens come from', address(provider?.token_endpoint ?? null)],
          ['Profiles come from', address(provider?.userinfo_endpoint ?? null)],
          [
            'Keys',
            provider ? (provider.keys === null ? 'none: profiles are read instead' : String(provider.keys)) : undefined,
          ],
        ]}
      />
    </>
  )
}
