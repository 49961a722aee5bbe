import type { Config } from '../../config/schema.ts'
import { newId } from '../../lib/ids.ts'
import { describeError, type Log } from '../../lib/log.ts'
import { reveal } from '../../lib/secret.ts'
import { newToken } from '../../lib/token.ts'
import { setupKey } from '../../stores/kv/keys.ts'
import type { SharedStore } from '../../stores/kv/shared-store.ts'
import type { AccountRecord, AccountRecords } from '../../stores/sql/people/account-records.ts'
import { auditRecorded } from '../../telemetry/audit.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import type { Passwords } from '../passwords/passwords.ts'

const SETUP_SECONDS = 3600

/** Creates the first account: from the configuration, or for the holder of the setup token or the master key. */
export interface FirstAdmin {
  /** Whether there is no account yet. Once there is one, the answer is remembered. */
  isMissing(): Promise<boolean>
  /** Creates the administrator of the configuration while there is no account. Costs nothing once there is one. */
  ensure(): Promise<void>
  /** Issues the token that permits to create the first account, once, within an hour. undefined: there is an account
   *  already, or another process has issued the token. */
  setupToken(): Promise<string | undefined>
  /** Uses a setup token up. False: it is not one that could still be used. */
  claim(token: string): Promise<boolean>
  /** undefined: there is an account already. */
  create(email: string, passwordHash: string, mustChangePassword: boolean): Promise<AccountRecord | undefined>
}

export function firstAdmin(options: {
  readonly settings: Pick<
    Config['general_settings'],
    'platform_bootstrap_admin_email' | 'platform_bootstrap_admin_password'
  >
  readonly records: Pick<AccountRecords, 'any' | 'create'>
  readonly passwords: Pick<Passwords, 'hashGiven'>
  readonly store: Pick<SharedStore, 'putNew' | 'take' | 'get'>
  readonly hash: (token: string) => string
  readonly telemetry: Pick<Telemetry, 'emit'>
  readonly now: () => number
  readonly log: Log
}): FirstAdmin {
  const { settings, records, passwords, store, hash, telemetry, now, log } = options
  const configured = configuredAdmin(settings)
  let isThere = false

  async function isMissing(): Promise<boolean> {
    isThere ||= await records.any()
    return !isThere
  }

  const create: FirstAdmin['create'] = async (email, password_hash, must_change_password) => {
    const account = await records.create({
      account_id: newId('account', '-'),
      user_id: newId('user', '-'),
      email,
      platform_role: 'platform_admin',
      password_hash,
      must_change_password,
      onlyFirst: true,
    })
    isThere = true
    return account
  }

  /** Records that the configuration made the account: no request did. */
  function audit({ account_id, email }: AccountRecord): void {
    telemetry.emit(
      auditRecorded(now(), {
        actor_type: 'configuration',
        actor_id: null,
        action: 'account.bootstrap',
        resource_id: account_id,
        status: 201,
        metadata: { email },
      }),
    )
  }

  return {
    isMissing,
    create,
    async ensure() {
      if (!configured || !(await isMissing())) return
      // Others may read the password in the file or the environment: it must be changed after its first login.
      const account = await create(configured.email, await passwords.hashGiven(reveal(configured.password)), true)
      if (!account) return
      log.info('account.bootstrapped', { account_id: account.account_id })
      audit(account)
    },
    async setupToken() {
      if (configured || !(await isMissing())) return undefined
      const token = newToken()
      try {
        return (await store.putNew(setupKey(), hash(token), SETUP_SECONDS)) ? token : undefined
      } catch (error) {
        log.warn('setup.no_token', { error: describeError(error) })
        return undefined
      }
    },
    async claim(token) {
      // Compared before it is taken: a wrong token must not use up the right one.
      if ((await store.get(setupKey())) !== hash(token)) return false
      return (await store.take(setupKey())) === hash(token)
    },
  }
}

function configuredAdmin({
  platform_bootstrap_admin_email: email,
  platform_bootstrap_admin_password: password,
}: Parameters<typeof firstAdmin>[0]['settings']) {
  return email === undefined || password === undefined ? undefined : { email, password }
}
