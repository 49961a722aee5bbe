import { ApiError } from '../../data/client.ts'

/** The events of a stream, each as the JSON that it holds. An error among them is thrown. */
export async function* eventsOf(response: Response): AsyncGenerator<Readonly<Record<string, unknown>>> {
  if (!response.body) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value = '' } = await reader.read()
    rest += value
    const lines = rest.split('\n')
    rest = done ? '' : (lines.pop() ?? '')
    for (const line of lines) {
      const data = line.startsWith('data:') ? line.slice(5).trim() : ''
      if (data === '' || data === '[DONE]') continue
      const event = JSON.parse(data) as Record<string, unknown>
      if (event.error) throw errorOf(event.error, response)
      yield event
    }
    if (done) return
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
