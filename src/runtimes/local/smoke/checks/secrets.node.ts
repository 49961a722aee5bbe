import { randomBytes } from 'node:crypto'
import { type Check, failed, passed } from '../check.node.ts'
import { inShort, jsonOf } from '../far-end.node.ts'
import type { Scene } from '../scene.node.ts'

/** What an administrator can read of the configuration. */
const CONFIGURATION = ['/ui/api/config', '/ui/api/models', '/ui/api/credentials', '/ui/api/callbacks', '/ui/api/keys']

/** An address with a password in it. */
const PASSWORD_IN_URL = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@"'<>]*:[^\s/@"'<>]+@/i

/** Come last: they look through everything that was answered before. */
export const secrets: readonly Check[] = [
  {
    name: 'strangers',
    promise: 'a wrong key is refused, and not shown',
    async run({ farEnd, chat }) {
      const key = `sk-${randomBytes(24).toString('base64url')}`
      const answers = [await farEnd.ask(chat('x', { key })), await farEnd.ask({ path: '/ui/api/config', key })]
      for (const answer of answers) {
        if (answer.status !== 401) return failed(`it was answered with ${inShort(answer)}`)
        if (answer.text.includes(key)) return failed('the answer shows it')
      }
      const open = await farEnd.ask({ path: '/ui/api/config' })
      return open.status === 401 ? passed('401') : failed(`without any key: ${inShort(open)}`)
    },
  },
  {
    name: 'sealed',
    promise: 'no secret of the configuration can be read',
    needsAdmin: true,
    async run({ farEnd, key }) {
      let sealed = 0
      for (const path of CONFIGURATION) {
        const answer = await farEnd.ask({ path, key })
        if (answer.status !== 200) return failed(`GET ${path} answers ${inShort(answer)}`)
        const { data } = (jsonOf(answer) ?? {}) as { data?: { key?: string; secret?: boolean; value?: unknown }[] }
        if (path !== '/ui/api/config') continue
        const hidden = (data ?? []).filter(({ secret }) => secret)
        const shown = hidden.filter(({ value }) => value !== null)
        if (shown.length > 0) return failed(`/ui/api/config shows ${shown.map((one) => one.key).join(', ')}`)
        sealed = hidden.length
      }
      return sealed > 0 ? passed(`${sealed} secret settings have no value to read`) : failed('no setting is a secret')
    },
  },
  {
    name: 'secrets',
    promise: 'no answer of this test shows a secret',
    async run(scene) {
      const shown = scene.farEnd.heard.flatMap(({ to, text }) => {
        const what = secretIn(scene, to, text)
        return what === undefined ? [] : [`${to} shows ${what}`]
      })
      return shown.length === 0 ? passed(`${scene.farEnd.heard.length} answers read`) : failed(shown.join('; '))
    },
  },
]

function secretIn({ key, keys }: Scene, to: string, text: string): string | undefined {
  if (text.includes(key)) return 'the key of this test'
  // Its making is the one answer that shows a key.
  if (to !== 'POST /ui/api/keys' && keys.made.some((made) => text.includes(made.key))) return 'a temporary key'
  if (PASSWORD_IN_URL.test(text)) return 'an address with a password'
  return undefined
}
