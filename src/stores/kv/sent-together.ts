import { together } from '../../lib/together.ts'
import { RedisRefusal, type SendCommand } from './redis-store.ts'

/** Sends several commands in one request, and resolves with the reply of each, or with its refusal. */
export type SendCommands = (commands: readonly (readonly string[])[]) => Promise<readonly unknown[]>

/** Sends simultaneous commands in one request. Only for commands that may run twice. */
export function sentTogether(one: SendCommand, many: SendCommands): SendCommand {
  const send = together(one, many)
  return async (command) => {
    const reply = await send(command)
    if (reply instanceof RedisRefusal) throw reply
    return reply
  }
}
