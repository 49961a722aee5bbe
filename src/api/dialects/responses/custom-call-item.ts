import { asRecord, asText, parseRecord } from '../../../lib/json/lenient.ts'
import type { CallItem } from './call-item.ts'
import type { OfferedTool } from './functions.ts'
import { type Emit, type ItemStatus, outputItem } from './output-item.ts'

interface Called {
  readonly id: string
  readonly callId: string
  readonly tool: OfferedTool
}

/** A call of a custom tool. Its input is a member of the arguments, so that it is known when they are complete. */
export function customCallItem(emit: Emit, output_index: number, { id, callId, tool }: Called): CallItem {
  const { name, namespace } = tool
  const where = { item_id: id, output_index }
  return completedCall(
    emit,
    output_index,
    (status, text) => ({
      id,
      type: 'custom_tool_call',
      status,
      call_id: callId,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      input: status === 'in_progress' ? '' : inputIn(text),
    }),
    (text) => {
      const input = inputIn(text)
      if (input !== '') emit('response.custom_tool_call_input.delta', { ...where, delta: input })
      emit('response.custom_tool_call_input.done', { ...where, input })
    },
  )
}

function inputIn(text: string): string {
  const input = parseRecord(text)?.input
  // Some models write the input itself.
  return typeof input === 'string' ? input : text
}

/** A call of the client's shell. */
export function shellCallItem(emit: Emit, output_index: number, { id, callId }: Called): CallItem {
  return completedCall(emit, output_index, (status, text) => ({
    id,
    type: 'local_shell_call',
    status,
    call_id: callId,
    action: actionIn(text),
  }))
}

/** A call that is told when its arguments are complete. */
function completedCall(
  emit: Emit,
  output_index: number,
  document: (status: ItemStatus, text: string) => object,
  tell: (text: string) => void = () => {},
): CallItem {
  let text = ''
  const item = outputItem(emit, output_index, (status) => document(status, text))
  return {
    get closed() {
      return item.closed
    },
    add(fragment) {
      text += fragment
    },
    close(status) {
      if (item.closed) return
      tell(text)
      item.close(status)
    },
    document: item.document,
  }
}

function actionIn(text: string): object {
  const { command, working_directory, timeout_ms, env } = parseRecord(text) ?? {}
  return {
    type: 'exec',
    // Some models write one line instead of a list.
    command: typeof command === 'string' ? ['bash', '-lc', command] : Array.isArray(command) ? command : [],
    env: asRecord(env),
    ...(asText(working_directory) === '' ? {} : { working_directory }),
    ...(typeof timeout_ms === 'number' ? { timeout_ms } : {}),
  }
}
