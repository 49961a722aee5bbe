import { ApiError } from '../../data/client.ts'

/** The events of a stream, each as the JSON that it holds. An error among them is thrown, and that the stream has ended
 *  before its last line. */
export async function* eventsOf(response: Response): AsyncGenerator<Readonly<Record<string, unknown>>> {
  if (!response.body) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  let isWhole = false
  for (;;) {
    const { done, value = '' } = await reader.read()
    rest += value
    const lines = rest.split('\n')
    rest = done ? '' : (lines.pop() ?? '')
    for (const line of lines) {
      const data = line.startsWith('data:') ? line.slice(5).trim() : ''
      if (data === '[DONE]') isWhole = true
      if (data === '' || data === '[DONE]') continue
      const event = JSON.parse(data) as Record<string, unknown>
      if (event.error) throw errorOf(event.error, response)
      yield event
    }
    if (!done) continue
    if (isWhole) return
    throw errorOf({ message: 'The answer broke off.', code: 'broken_off' }, response)
  }
}

function errorOf(error: unknown, response: Response): ApiError {
  const { message, code } = error as { readonly message?: string; readonly code?: string | null }
  return new ApiError(message ?? 'The stream ended with an error.', {
    status: response.status,
    code: code ?? undefined,
    requestId: response.headers.get('x-request-id') ?? undefined,
  })
}
