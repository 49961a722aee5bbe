import { all, ask, type Environment } from './admin-api.ts'
import { optionsOf, outcomeOf, print, UsageError, WHERE, withAdminApi } from './options.node.ts'

export const ACCOUNTS_USAGE = `Usage: model-gateway accounts reset-password EMAIL
       model-gateway accounts reset-mfa EMAIL

  reset-password     ends the sessions of a person, and prints the link by which they set a new password
  reset-mfa          removes a lost second factor, and ends the sessions
  --url ADDRESS      asks a running gateway, with the key in GATEWAY_KEY
`

/** `model-gateway accounts …`. */
export function accountsCommand(operands: readonly string[], env: Environment): Promise<number> {
  return outcomeOf(ACCOUNTS_USAGE, async () => {
    const { values, positionals } = optionsOf(operands, WHERE)
    const [action, email, ...more] = positionals
    if (action === undefined) throw new UsageError('Say what to do with an account')
    if ((action !== 'reset-password' && action !== 'reset-mfa') || more.length > 0) {
      throw new UsageError(`There is no command accounts ${positionals.join(' ')}`)
    }
    if (email === undefined) throw new UsageError('Name the account by its e-mail address')
    await withAdminApi(env, values.url, async (api) => {
      const found = await all(api, `/ui/api/accounts?search=${encodeURIComponent(email)}`)
      const account = found.find((one) => String(one.email).toLowerCase() === email.toLowerCase())
      if (!account) throw new Error(`There is no account with the address ${email}.`)
      const done = await ask(api, 'POST', `/ui/api/accounts/${account.account_id}/${action}`)
      const ended = `${done.ended} ${done.ended === 1 ? 'session was' : 'sessions were'} ended`
      if (action === 'reset-mfa') {
        print(`The second factor of ${account.email} is removed; ${ended}.\n`)
        return
      }
      const link = String(done.link)
      process.stderr.write(`For ${account.email}, once, until ${done.expires_at}; ${ended}:\n`)
      if (link.startsWith('/')) process.stderr.write('(put the address of the gateway before it)\n')
      print(`${values.url !== undefined && link.startsWith('/') ? values.url.replace(/\/+$/, '') : ''}${link}\n`)
    })
    return 0
  })
}
