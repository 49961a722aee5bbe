import type { Running } from './targets/target.ts'
import { CONTENT, requestBody, STREAMED_CONTENT } from './wire.ts'

/** A fast wrong answer is no answer: throws unless a whole reply and a stream come through word for word. */
export async function checkAnswers(target: Running): Promise<void> {
  const ask = async (stream: boolean) => {
    const response = await fetch(`${target.url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...target.headers },
      body: requestBody(stream),
      signal: AbortSignal.timeout(10_000),
    })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`answered ${response.status}: ${text.slice(0, 300)}`)
    return text
  }
  for (let turn = 0; turn < 3; turn++) {
    const whole = JSON.parse(await ask(false)) as { choices: { message: { content: string } }[] }
    if (whole.choices[0]?.message.content !== CONTENT) throw new Error('the reply has other words')
    const streamed = await ask(true)
    if (spoken(streamed) !== STREAMED_CONTENT) throw new Error('the stream has other words')
    if (!streamed.trimEnd().endsWith('data: [DONE]')) throw new Error('the stream does not end as it should')
  }
}

function spoken(stream: string): string {
  const data = stream.split('\n').flatMap((line) => (line.startsWith('data: {') ? [line.slice(6)] : []))
  return data
    .map((one) => (JSON.parse(one) as { choices: { delta?: { content?: string } }[] }).choices[0]?.delta?.content ?? '')
    .join('')
}
